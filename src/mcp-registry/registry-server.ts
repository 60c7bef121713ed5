/**
 * Defines a server as a registry describes it, after its `server.json` was read: one shape for all versions of the
 * schema. Texts come from strangers; they are bounded and have nothing hidden in them.
 * @module
 */

/** The kinds of transport that a package or remote can have. */
export type RegistryTransport = 'stdio' | 'streamable-http' | 'sse';

/** A value that is given, or asked for. */
export interface RegistryInput {
  /** Fixed, and not asked for; `{name}` in it stands for one of `variables`. */
  readonly value?: string | undefined;
  readonly default?: string | undefined;
  readonly description?: string | undefined;
  readonly placeholder?: string | undefined;
  readonly isRequired: boolean;
  readonly isSecret: boolean;
  readonly format: 'string' | 'number' | 'boolean' | 'filepath';
  readonly choices: readonly string[];
  readonly variables: readonly NamedInput[];
}

/** An environment variable, a header, or a variable inside another value. */
export interface NamedInput extends RegistryInput {
  readonly name: string;
}

/** One argument of a command line. */
export interface RegistryArgument extends RegistryInput {
  /** `--port`, with its dashes; undefined for a positional argument. */
  readonly flag?: string | undefined;
  /** What a positional argument stands for. */
  readonly valueHint?: string | undefined;
  readonly isRepeated: boolean;
}

/** A step after the installation that a person may take. It is shown and never run. */
export interface PostInstall {
  readonly description: string;
  readonly command?: string | undefined;
  readonly documentation?: string | undefined;
  readonly optional: boolean;
}

/** A server at an address. */
export interface RegistryRemote {
  readonly type: Exclude<RegistryTransport, 'stdio'>;
  /** `{name}` in it stands for one of `variables`. */
  readonly url: string;
  readonly variables: readonly NamedInput[];
  readonly headers: readonly NamedInput[];
}

/** A program that a package manager or a container runtime can start. */
export interface RegistryPackage {
  /** `npm`, `pypi`, `oci`, `nuget`, `mcpb`, or one that we do not know. */
  readonly registryType: string;
  readonly identifier: string;
  readonly version?: string | undefined;
  readonly registryBaseUrl?: string | undefined;
  readonly fileSha256?: string | undefined;
  readonly runtimeHint?: string | undefined;
  readonly transport: { readonly type: RegistryTransport; readonly url?: string | undefined };
  readonly runtimeArguments: readonly RegistryArgument[];
  readonly packageArguments: readonly RegistryArgument[];
  readonly environmentVariables: readonly NamedInput[];
  readonly postInstall: readonly PostInstall[];
}

export interface RegistryServer {
  /** `publisher/server`. */
  readonly name: string;
  readonly title?: string | undefined;
  readonly description: string;
  readonly version: string;
  readonly websiteUrl?: string | undefined;
  readonly repository?: { readonly url: string; readonly subfolder?: string | undefined } | undefined;
  readonly packages: readonly RegistryPackage[];
  readonly remotes: readonly RegistryRemote[];
  /** What was left out, and why. */
  readonly notes: readonly string[];
}

/** What a registry says about an entry beside its `server.json`. */
export interface RegistryStatus {
  readonly status: 'active' | 'deprecated' | 'deleted';
  /** Why, or what to use instead. */
  readonly message?: string | undefined;
  readonly publishedAt?: string | undefined;
  readonly updatedAt?: string | undefined;
  /** Undefined where the registry does not say. */
  readonly isLatest?: boolean | undefined;
}

export interface RegistryEntry extends RegistryStatus {
  readonly server: RegistryServer;
  /** The `server.json` as the registry sent it, with fields that we do not know. */
  readonly raw: Readonly<Record<string, unknown>>;
}

/** The publisher: the part of a name before the slash. */
export const publisherOf = (name: string): string => name.slice(0, name.indexOf('/'));

/** The part of a name after the slash. */
export const shortNameOf = (name: string): string => name.slice(name.indexOf('/') + 1);

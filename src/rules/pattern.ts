/**
 * Compiles one entry of a rule's `pattern` list.
 * @module
 */
import { ValidationError } from '../core/errors.ts';
import type { ItemKind } from '../core/types.ts';
import { plainName } from '../text/plain-text.ts';
import { compileGlob } from './glob.ts';

/** Builds a matcher for `/source/flags`. It is passed in, because the engine is imported only when a rule needs it. */
export type RegexCompiler = (source: string, flags: string) => (text: string) => boolean;

export interface CompiledPattern {
  /** As written, including `!`. */
  readonly text: string;
  readonly negated: boolean;
  /** What the pattern is about, if not tools: `resource:` and `prompt:` patterns. */
  readonly kind: ItemKind | undefined;
  /** Tells whether the pattern without its `!` matches the tool; with a kind, the resource or prompt. */
  test(tool: string, server?: string, kind?: ItemKind): boolean;
  /**
   * Tells whether the pattern matches the tool in any reading, for denying rules: a look-alike name counts as the
   * original.
   */
  couldMean(tool: string, server?: string, kind?: ItemKind): boolean;
}

const ITEM_PATTERN = /^(resource|prompt):(.*)$/s;
/** A glob of all tools, or of all tools of some servers. It means their resources and prompts too. */
const EVERYTHING = /^(?:[^:]*:)?\*+$/;

/**
 * Compiles one pattern. Throws ConfigurationError when it is invalid, ValidationError when the regex engine is missing.
 */
export function compilePattern(text: string, regexCompiler?: RegexCompiler): CompiledPattern {
  const negated = text.startsWith('!');
  const body = negated ? text.slice(1) : text;
  const regex = splitRegex(body);
  if (regex !== undefined) {
    if (regexCompiler === undefined) {
      throw new ValidationError(`The regular expression ${text} needs the regex engine.`);
    }
    const test = regexCompiler(regex.source, regex.flags);
    return {
      text,
      negated,
      kind: undefined,
      test: (tool, _server, kind) => kind === undefined && test(composed(tool)),
      couldMean: (tool, _server, kind) => kind === undefined && readingsOf(tool).some(test),
    };
  }
  const ofTools = compileToolGlob(body);
  const [, ofKind, glob = ''] = ITEM_PATTERN.exec(body) ?? [];
  const isEverything = EVERYTHING.test(body);
  // Without `server:` it is complete only for a deny: a URI has a colon of its own.
  const item = ofKind === undefined ? undefined : compileName(glob);
  const qualified = (name: string, server: string | undefined): string =>
    server === undefined ? name : `${server}:${name}`;
  return {
    text,
    negated,
    kind: ofKind as ItemKind | undefined,
    test: (name, server, kind) => {
      if (kind === undefined) return item === undefined && ofTools.test(name, server);
      return item
        ? ofKind === kind && item.exact(composed(qualified(name, server)))
        : isEverything && ofTools.test(name, server);
    },
    couldMean: (name, server, kind) => {
      // A server may be called `resource`.
      if (kind === undefined) return ofTools.couldMean(name, server);
      if (!item) return isEverything && ofTools.couldMean(name, server);
      const readings = kind === 'resource' ? uriReadings(name) : [name];
      return (
        ofKind === kind &&
        readings.flatMap((one) => [one, qualified(one, server)]).some((one) => readingsOf(one).some(item.alike))
      );
    },
  };
}

/** Returns a URI as written, and as a server may take it: decoded, with `.` and `..` resolved. */
export function uriReadings(uri: string): string[] {
  const readings = new Set([uri]);
  for (const read of [decodeURIComponent, (written: string) => new URL(written).href])
    for (const reading of [...readings])
      try {
        readings.add(read(reading));
      } catch {
        // It has only the other readings.
      }
  return [...readings];
}

/** Compiles a glob of tool names. */
function compileToolGlob(body: string): Pick<CompiledPattern, 'test' | 'couldMean'> {
  const { exact, alike } = compileName(body);
  // Only a glob with a colon is matched against the server: `*read*` must not allow every tool of a server named
  // `spreadsheet`.
  if (!body.includes(':')) {
    return { test: (tool) => exact(composed(tool)), couldMean: (tool) => readingsOf(tool).some(alike) };
  }
  return {
    test: (tool, server) => exact(composed(server === undefined ? tool : `${server}:${tool}`)),
    // A tool's own name may contain a colon.
    couldMean: (tool, server) =>
      readingsOf(tool).some(
        (name) => alike(name) || (server !== undefined && readingsOf(server).some((own) => alike(`${own}:${name}`))),
      ),
  };
}

/** Compiles a glob for server or tool names: exact, and for look-alikes of the written name. */
export function compileName(glob: string): {
  readonly exact: (name: string) => boolean;
  readonly alike: (name: string) => boolean;
} {
  const written = composed(glob);
  const exact = compileGlob(written);
  const plain = plainName(written);
  // A full-width asterisk is a character of a name, not a wildcard.
  if (plain === written || wildcards(plain) !== wildcards(written)) return { exact, alike: exact };
  const asPlain = compileGlob(plain);
  return { exact, alike: (name) => exact(name) || asPlain(name) };
}

const wildcards = (glob: string): string => glob.replace(/[^*?[\]{},!\\]/g, '');

/** Normalises Unicode, so that names and rules compare equal. */
const composed = (name: string): string => name.normalize('NFC');

/** Returns a name as written, and as a reader would take it. */
function readingsOf(name: string): string[] {
  const [written, plain] = [composed(name), plainName(name)];
  return written === plain ? [written] : [written, plain];
}

/** Tells whether a rule's `server` matches a server; for a denying rule, also a look-alike. */
export const isServer = (
  named: ReturnType<typeof compileName> | undefined,
  server: string,
  enabled: boolean | undefined,
): boolean =>
  named !== undefined &&
  (enabled === false ? readingsOf(server).some(named.alike) : named.exact(server.normalize('NFC')));

/** Tells whether a pattern is a regular expression. */
export const isRegexPattern = (text: string): boolean =>
  splitRegex(text.startsWith('!') ? text.slice(1) : text) !== undefined;

function splitRegex(body: string): { source: string; flags: string } | undefined {
  const end = body.lastIndexOf('/');
  if (end < 1 || !body.startsWith('/')) return undefined;
  const flags = body.slice(end + 1);
  return /^[A-Za-z]*$/.test(flags) ? { source: body.slice(1, end), flags } : undefined;
}

/** Tells whether an exception of an allowing rule could mean the tool. */
export const isException = (
  patterns: readonly CompiledPattern[],
  tool: string,
  server: string,
  kind: ItemKind | undefined,
): boolean => patterns.some((pattern) => pattern.negated && pattern.couldMean(tool, server, kind));

/**
 * Tells whether at least one positive pattern matches, or there is none, and no negated one matches; the order does not
 * matter. In a denying rule, a positive pattern counts if it could mean the tool. In an allowing rule, a negated
 * pattern counts if it could mean the tool.
 */
export function matchesPatterns(
  patterns: readonly CompiledPattern[],
  tool: string,
  server: string | undefined,
  enabled: boolean | undefined,
  kind?: ItemKind,
): boolean {
  let positives = 0;
  let matched = false;
  for (const pattern of patterns) {
    if (pattern.negated) {
      if (enabled === true ? pattern.couldMean(tool, server, kind) : pattern.test(tool, server, kind)) return false;
    } else {
      positives += 1;
      matched ||= enabled === false ? pattern.couldMean(tool, server, kind) : pattern.test(tool, server, kind);
    }
  }
  return matched || positives === 0;
}

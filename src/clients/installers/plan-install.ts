/**
 * Plans `install` and `uninstall`: says what would change in a client's file, and can carry it out. Nothing is written
 * before `write`.
 * @module
 */

import { isCode } from '../../config/parse-data.ts';
import { FileTooLarge } from '../../config/read-file.ts';
import type { World } from '../../config/world.ts';
import { ConfigurationError } from '../../core/errors.ts';
import { isObject } from '../../json/plain-object.ts';
import { type ClientType, clientOf } from '../importers/clients.ts';
import { bringsTakenOver } from '../importers/list-clients.ts';
import { documentOf, entriesAt } from './edit-text.ts';
import { discard, keep, keptPath, removeFound, replaceFound, unlessChanged } from './files.ts';
import { type AskTrust, forgetCopy, refuseUntrusted, trustCopy } from './foreign-file.ts';
import { type GatewayOptions, gatewayFor } from './gateway.ts';
import { ENTRY_NAME } from './gateway-entry.ts';
import type { Gateway } from './installation.ts';
import { type Installed, movedBefore, readInstalled, withoutUs, withUs } from './installed.ts';
import { ownConfigurationFile, withoutSource, withSource } from './own-configuration.ts';
import { NO_TAKE_OVER, type TakeOver, takeOverOf, withLogins } from './take-over.ts';
import { isStillThere, undisturbed } from './undisturbed.ts';

export interface InstallOptions extends GatewayOptions {
  /** Moves the client's own servers behind the gateway. */
  readonly takeOver?: boolean | undefined;
  /** Asked about an untrusted file that is not the user's own and whose servers are to move. */
  readonly ask?: AskTrust | undefined;
}

/** One file before and after. */
interface TextChange {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

/** What would happen to one file of a client. */
export interface Plan {
  readonly client: ClientType;
  readonly title: string;
  readonly file: string;
  readonly status: 'installed' | 'updated' | 'unchanged' | 'removed' | 'absent';
  /** What would be written: the client's file and our configuration. */
  readonly changes: readonly TextChange[];
  /** The path of the copy of the original file. */
  readonly backup?: string | undefined;
  /** Servers that move behind the gateway, or back. */
  readonly servers: readonly string[];
  /** Notes for the user. */
  readonly notes: readonly string[];
  /** The user's next step. */
  readonly next?: string | undefined;
  /** Carries out the plan. */
  write(): Promise<void>;
}

/** Plans an installation into a file. */
export async function planInstall(
  type: ClientType,
  path: string,
  options: InstallOptions,
  world: World,
): Promise<Plan> {
  const installed = await readInstalled(type, path, options.config, world).catch((error: unknown) => {
    throw withOtherWay(error, type, options, world);
  });
  const { client, found, text, place, kept, ours, own: isOwn } = installed;
  if (installed.byHand !== undefined) {
    return nothingToDo(
      installed,
      'unchanged',
      `this gateway is already there, as ${JSON.stringify(installed.byHand)}, written by hand; to have install write the entry, remove that one first`,
    );
  }
  if (installed.taken) {
    throw new ConfigurationError(`${path} has another server called "${ENTRY_NAME}". Rename that server first.`);
  }
  const taking = options.takeOver === true || (kept?.taken === true && ours !== undefined);
  const base = await withoutUs(installed, world);
  // A repeated installation moves the same servers as before; newer servers move only with `takeOver`.
  const only = options.takeOver === true ? undefined : await movedBefore(installed, world);
  const document = await documentOf({ path, text: base });
  const possible = takeOverOf(type, document, place, path, world, {
    only: taking ? only : undefined,
    all: options.takeOver !== true && taking,
  });
  if (taking && !isOwn && possible.names.length > 0) await refuseUntrusted(installed, base, options.ask, world);
  // Servers are probed only if the user wants them moved, and only those of usable files.
  const takeOver = options.takeOver === true ? await withLogins(possible, world) : taking ? possible : NO_TAKE_OVER;
  const { names } = takeOver;
  const gateway = gatewayFor(client, options, takeOver.references, world);
  const name = ours?.name ?? ENTRY_NAME;
  const wanted = { ...client.install.entry(gateway, place.way), ...(place.list && { name }) };
  const entry = merged(ours?.raw, wanted);
  const notes = [
    ...linkNotes(installed),
    ...copyNotes(installed),
    ...takeOver.staying,
    ...(taking && names.length + takeOver.staying.length === 0 ? ['there are no servers to take over'] : []),
    ...(taking ? [] : besideNotes(possible.names)),
    ...variableNotes(gateway, wanted, takeOver),
    ...switchedOff(installed, world),
  ];
  const after = await withUs(installed, base, name, entry, names, place);
  const copy = keptPath(path, names.length > 0);
  const isSettled = ours !== undefined && isSame(ours.raw, wanted) && isAway(installed, names);
  // Configuration code is not evaluated here, so its sources are unknown.
  if (isSettled && isCode(ownConfigurationFile(world, options.config)))
    return { ...nothingToDo(installed, 'unchanged'), notes };
  const own =
    names.length > 0
      ? await withSource(world, options.config, type, copy, bringsTakenOver(client, path, world))
      : kept?.taken
        ? await withoutSource(world, options.config, kept.path)
        : undefined;
  if (isSettled && own === undefined) return { ...nothingToDo(installed, 'unchanged'), notes };
  const isCopied = found.text === undefined || (kept?.path === copy && kept.text === base);
  const takeBack = async () => {
    // Servers that left the client's file exist only in the copy.
    if (!(await isStillThere(installed, names))) return;
    await own?.undo().catch(unlessChanged);
    if (isCopied) return;
    // An overwritten large copy is as good as the previous one: both contain what was moved.
    if (kept?.path !== copy) await discard(copy);
    else if (kept.excerpt === undefined) await keep(copy, kept.text);
    if (!isOwn && names.length > 0) await forgetCopy(copy, world);
  };
  return {
    ...about(installed),
    status: ours === undefined ? 'installed' : 'updated',
    changes: [{ path, before: text, after }, ...(own === undefined ? [] : [own])],
    backup: found.text === undefined ? undefined : copy,
    servers: names,
    notes,
    next: nextOf(installed, gateway),
    // Servers that move are stored in two places before they leave the client's file.
    write: () =>
      undisturbed(installed, own, async () => {
        try {
          await options.prepare?.();
          if (!isCopied) await keep(copy, base, found);
          if (!isOwn && names.length > 0) await trustCopy(copy, base, world);
          await own?.write();
          if (after !== text) await replaceFound(found, after);
        } catch (error) {
          // Report the first error, not one of the rollback.
          await takeBack().catch(() => undefined);
          throw error;
        }
        if (kept !== undefined && kept.path !== copy) await discard(kept.path);
        if (kept?.taken && !isOwn && names.length === 0) await forgetCopy(kept.path, world);
      }),
  };
}

/** Plans an uninstallation from a file. */
export async function planUninstall(
  type: ClientType,
  path: string,
  options: Pick<InstallOptions, 'config'>,
  world: World,
): Promise<Plan> {
  const installed = await readInstalled(type, path, options.config, world);
  const { found, text, place, kept, ours } = installed;
  if (ours === undefined && kept?.taken !== true) {
    const other = installed.taken ? ENTRY_NAME : installed.byHand;
    return nothingToDo(
      installed,
      'absent',
      ...(other === undefined ? [] : [`${JSON.stringify(other)} was not written by install, so it stays`]),
    );
  }
  const base = await withoutUs(installed, world);
  const config = options.config ?? configOf(ours?.raw);
  const away = keptPath(path, true);
  const own = await withoutSource(world, config, away).catch((error: unknown) => {
    // If nothing has to be given back, a broken configuration of ours does not prevent uninstalling.
    if (error instanceof ConfigurationError && kept?.taken !== true) return undefined;
    throw error;
  });
  const isOurFile =
    kept === undefined && ours !== undefined && (await withUs(installed, '', ours.name, ours.raw, [], place)) === text;
  const whole = kept === undefined || base === kept.text;
  return {
    ...about(installed),
    status: 'removed',
    changes: [{ path, before: text, after: isOurFile ? '' : base }, ...(own === undefined ? [] : [own])],
    backup: whole ? undefined : keptPath(path, false),
    servers: await movedBefore(installed, world),
    notes: [
      ...linkNotes(installed),
      ...copyNotes(installed),
      ...(own !== undefined && kept?.taken !== true
        ? [`servers that were moved behind the gateway cannot be given back, because ${away} is gone`]
        : []),
      ...(whole ? [] : ['the file was changed since installation; those changes and the backup stay']),
    ],
    next: nextOf(installed),
    write: () =>
      undisturbed(installed, own, async () => {
        if (isOurFile) await removeFound(found);
        else await replaceFound(found, base);
        await own?.write();
        if (kept === undefined) return;
        if (!whole && kept.taken) await keep(keptPath(path, false), kept.text, { ...kept, target: kept.path });
        if (whole || kept.taken) await discard(kept.path);
        if (kept.taken && !installed.own) await forgetCopy(kept.path, world);
      }),
  };
}

const about = ({ type, client, found }: Installed) => ({ client: type, title: client.title, file: found.path });

const nothingToDo = (installed: Installed, status: Plan['status'], ...notes: readonly string[]): Plan => ({
  ...about(installed),
  status,
  changes: [],
  servers: [],
  notes,
  write: async () => undefined,
});

/** Keeps fields that the user or the client added to our entry, if its kind stays the same. */
function merged(present: Readonly<Record<string, unknown>> | undefined, wanted: Readonly<Record<string, unknown>>) {
  const kind = (entry: object) => ('env' in entry || 'environment' in entry || 'envs' in entry ? 'stdio' : 'http');
  return present !== undefined && kind(present) === kind(wanted) ? { ...present, ...wanted } : wanted;
}

const isSame = (present: Readonly<Record<string, unknown>>, wanted: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(wanted).every(([key, value]) => JSON.stringify(present[key]) === JSON.stringify(value));

/** Tells whether the servers that should have moved have left the file. */
const isAway = ({ document, place, kept }: Installed, names: readonly string[]): boolean =>
  (kept?.taken === true) === names.length > 0 && names.every((name) => !entriesAt(document, place).has(name));

const linkNotes = ({ found: { path, target } }: Installed): string[] =>
  path === target ? [] : [`${path} is a symbolic link; the file behind it is ${target}`];

const copyNotes = ({ unknownCopy }: Installed): string[] =>
  unknownCopy === undefined ? [] : [`${unknownCopy} was not made here, so nothing of it is used`];

/** Servers that the client still starts itself fill its context as before. */
const besideNotes = (names: readonly string[]): string[] =>
  names.length === 0
    ? []
    : [
        `it still starts ${listed(names)} itself; --take-over moves ${names.length === 1 ? 'it' : 'them'} behind the gateway`,
      ];

const listed = (names: readonly string[]): string => {
  const quoted = names.slice(0, 5).map((name) => JSON.stringify(name));
  const last = names.length > 5 ? `${names.length - 5} more` : quoted.pop();
  return quoted.length === 0 ? `${last}` : `${quoted.join(', ')} and ${last}`;
};

function variableNotes(gateway: Gateway, wanted: object, { references }: TakeOver): string[] {
  const handsOn = 'env_vars' in wanted || 'env_keys' in wanted;
  const names = gateway.type === 'http' ? references.map(({ name }) => name) : handsOn ? [] : gateway.inherit;
  return names.length === 0 ? [] : [`set these variables where the gateway runs: ${names.join(', ')}`];
}

/** A list elsewhere in the file may prevent the client from starting our entry. */
function switchedOff({ client, document }: Installed, world: World): string[] {
  const off = client.switches?.isOff(ENTRY_NAME, { world, document, beside: undefined, scope: 'user' }) ?? false;
  return off
    ? [`a list of servers in this file prevents ${client.title} from starting "${ENTRY_NAME}"; add it there`]
    : [];
}

function nextOf({ client: { title, install } }: Installed, gateway?: Gateway): string {
  const next = install.next ?? `Restart ${title}.`;
  if (gateway === undefined) return install.next === undefined ? next : `Restart ${title}.`;
  const other = install.otherWay?.(gateway);
  return other === undefined ? next : `${next} The other way to do this is: ${other}`;
}

/** If a file is too large for us, suggests the client's own command. */
function withOtherWay(error: unknown, type: ClientType, options: InstallOptions, world: World): unknown {
  const client = clientOf(type);
  const { otherWay } = client.install;
  if (!(error instanceof FileTooLarge) || otherWay === undefined) return error;
  const command = otherWay(gatewayFor(client, options, [], world));
  return new FileTooLarge(`${error.message} ${client.title} can do it itself: ${command}`, [], { cause: error });
}

/** Returns the configuration that our entry names. */
function configOf(raw: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const env = raw?.env ?? raw?.environment ?? raw?.envs;
  return isObject(env) && typeof env.ANYGPT_CONFIG === 'string' ? env.ANYGPT_CONFIG : undefined;
}

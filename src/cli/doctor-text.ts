/**
 * Writes the doctor's report: one line for each thing that works, more where something is wrong.
 * @module
 */

import { type Check, type CheckKind, type CheckStatus, worstOf } from '../doctor/check.ts';
import { type ExaminedServer, works } from '../doctor/examine-server.ts';
import { counted } from '../text/counted.ts';
import { oneLine } from '../text/plain-text.ts';
import { columnsOf } from './layout.ts';
import type { Paint } from './paint.ts';
import { withTildes } from './source-lines.ts';
import { withoutName } from './without-name.ts';

/** All findings of the doctor. */
export interface Diagnosis {
  /** Findings about the machine, the configuration and its sources. */
  readonly checks: readonly Check[];
  readonly servers: readonly ExaminedServer[];
  readonly offline: boolean;
}

/** How the report is written. */
interface DoctorStyle {
  readonly paint: Paint;
  readonly block: (text: string, indent?: string) => string;
  readonly home: string | undefined;
}

const MARKS: Readonly<Record<CheckStatus, readonly ['green' | 'yellow' | 'red', string]>> = {
  ok: ['green', '✓'],
  warn: ['yellow', '!'],
  fail: ['red', '✗'],
};

const SECTIONS: readonly (readonly [CheckKind, string])[] = [
  ['machine', 'Machine'],
  ['configuration', 'Configuration'],
  ['source', 'Sources'],
];

/** The whole report. */
export function doctorText({ checks, servers, offline }: Diagnosis, style: DoctorStyle): string {
  const sections = SECTIONS.flatMap(([kind, title]) => {
    const own = checks.filter((check) => check.kind === kind);
    return own.length === 0
      ? []
      : [
          section(
            title,
            bySubject(own).flatMap((checks) => lines(checks, style)),
            style,
          ),
        ];
  });
  const widest = Math.min(24, Math.max(0, ...servers.map(({ name }) => columnsOf(oneLine(name, 200)))));
  const rows = servers.flatMap((server) => serverLines(server, widest, style));
  if (rows.length > 0) sections.push(section('Servers', rows, style));
  return [...sections, summary(checks, servers, offline)].join('\n\n');
}

const section = (title: string, rows: readonly string[], { paint }: DoctorStyle): string =>
  [paint('bold', title), ...rows].join('\n');

/** The subject of a finding; empty if its detail already names it. */
const subjectText = ({ kind, check, subject, status }: Check): string =>
  check === 'warning' ||
  subject === 'configuration' ||
  (kind === 'machine' && (check === 'node' || (check === 'proxy' && status === 'ok')))
    ? ''
    : subject;

/** Groups neighbouring findings with the same mark about the same file. */
function bySubject(checks: readonly Check[]): (readonly [Check, ...Check[]])[] {
  const groups: [Check, ...Check[]][] = [];
  for (const check of checks) {
    const [last] = groups.at(-1) ?? [];
    const isSame = last?.status === check.status && last.subject === check.subject;
    if (isSame && subjectText(check) !== '') groups.at(-1)?.push(check);
    else groups.push([check]);
  }
  return groups;
}

/** A finding; several findings are a list below their subject. */
function lines([first, ...more]: readonly [Check, ...Check[]], style: DoctorStyle): string[] {
  const { status, detail, fix } = first;
  const subject = subjectText(first);
  if (more.length === 0)
    return [marked(status, subject === '' ? detail : `${subject}: ${detail}`, style), ...fixLine(fix, style)];
  return [
    marked(status, `${subject}:`, style),
    ...[first, ...more].flatMap((check) => [
      style.block(withTildes(`- ${check.detail}`, style.home), '  '),
      ...fixLine(check.fix, style),
    ]),
  ];
}

/** The mark in colour, and the text wrapped below it. */
function marked(status: CheckStatus, text: string, { paint, block, home }: DoctorStyle): string {
  const [colour, mark] = MARKS[status];
  return `${paint(colour, mark)} ${block(withTildes(text, home), '  ').slice(2)}`;
}

const fixLine = (fix: string | undefined, style: DoctorStyle): string[] =>
  fix === undefined ? [] : [`  → ${style.block(withTildes(fix, style.home), '    ').slice(4)}`];

function serverLines(server: ExaminedServer, widest: number, style: DoctorStyle): string[] {
  const name = oneLine(server.name, 200);
  const padded = name + ' '.repeat(Math.max(0, widest - columnsOf(name)));
  const { paint } = style;
  if (server.disabled) return [`${paint('dim', '-')} ${padded}  disabled`];
  const status = worstOf(server.checks);
  if (status === 'fail') {
    const broken = server.checks.filter((check) => check.status === 'fail');
    return broken.flatMap(({ detail, fix }) => [
      marked('fail', `${padded}  ${withoutName(detail, name)}`, style),
      ...fixLine(fix, style),
    ]);
  }
  const warnings = server.checks.filter((check) => check.status === 'warn');
  return [
    marked(status, `${padded}  ${fineText(server)}`, style),
    ...warnings.flatMap(({ detail, fix }) => [`  ${style.block(detail, '  ').slice(2)}`, ...fixLine(fix, style)]),
  ];
}

/** `14 tools · stdio · 2025-11-25 · connect 812 ms, list 40 ms` */
function fineText({ probe, checks }: ExaminedServer): string {
  if (!probe) return checks.find(({ check }) => check === 'command' || check === 'url')?.detail ?? 'not started';
  const { toolCount = 0, transport, protocolVersion, connectMs, listMs } = probe;
  const count = counted(toolCount, 'tool');
  return [count, transport, protocolVersion, `connect ${connectMs} ms, list ${listMs} ms`].join(' · ');
}

function summary(checks: readonly Check[], servers: readonly ExaminedServer[], offline: boolean): string {
  const active = servers.filter(({ disabled }) => !disabled);
  const fine = active.filter((server) => works(server, offline)).length;
  // A server that fails is shown without its warnings.
  const shown = servers.filter((server) => worstOf(server.checks) !== 'fail').flatMap((server) => server.checks);
  const warnings = [...checks, ...shown].filter(({ status }) => status === 'warn').length;
  const broken = checks.filter(({ status }) => status === 'fail').length;
  const [one, several] = offline ? ['looks', 'look'] : ['works', 'work'];
  const verb = fine === 1 || active.length === 1 ? one : several;
  return [
    active.length === 0
      ? 'No servers to check'
      : `${fine} of ${counted(active.length, 'server')} ${verb}${offline ? ' right (nothing was started)' : ''}`,
    broken > 0 && `${counted(broken, 'problem')} elsewhere`,
    warnings > 0 && counted(warnings, 'warning'),
  ]
    .filter(Boolean)
    .join(', ')
    .concat('.');
}

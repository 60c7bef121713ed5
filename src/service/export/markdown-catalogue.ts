/**
 * Writes manifests as a Markdown catalogue: a section for each server, a table of its tools, and their parameters.
 * @module
 */

import { signature } from '../../catalog/signature.ts';
import { LIMITS } from '../../core/limits.ts';
import { counted } from '../../text/counted.ts';
import { firstSentence, oneLine, visible } from '../../text/plain-text.ts';
import type { CapabilityManifest } from '../manifest.ts';
import { byServer } from './files-by-server.ts';

/** Returns the text of the catalogue. */
export function catalogueText(manifests: readonly CapabilityManifest[]): string {
  const servers = byServer(manifests);
  const sections = servers.map(({ server, own }) => {
    const [domain = ''] = own[0]?.domains ?? [];
    const url = own[0]?.provider.serverUrl;
    const about = [counted(own.length, 'tool'), `domain ${code(domain)}`, ...(url === undefined ? [] : [code(url)])];
    return `## ${inline(server)}\n\n${about.join(', ')}\n\n${TABLE}${own.map(row).join('')}`;
  });
  return `# Capabilities\n\n${counted(manifests.length, 'tool')} of ${counted(servers.length, 'server')}.\n\n${sections.join('\n')}`;
}

const TABLE = '| tool | does | parameters | domains | categories |\n| --- | --- | --- | --- | --- |\n';

function row({ provider, description, inputSchema, domains, categories }: CapabilityManifest): string {
  const cells = [
    code(provider.toolName),
    inline(firstSentence(description, LIMITS.text.note)),
    code(signature(inputSchema)),
    domains.map(code).join(' '),
    categories.map(code).join(' '),
  ];
  return `| ${cells.join(' | ')} |\n`;
}

/** Text without the characters that mean something in Markdown or HTML. */
const inline = (text: string): string =>
  oneLine(visible(text), LIMITS.text.note)
    .replace(/[\\`*_{}[\]()#+!|~$]/g, '\\$&')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;');

/** Text in backticks, which nothing in it can end; a table ends a cell at any `|`. */
function code(text: string): string {
  const plain = oneLine(visible(text), LIMITS.text.note).replaceAll('`', 'ˋ').replaceAll('|', '\\|');
  return plain === '' ? '' : `\`${plain}\``;
}

/**
 * Turns manifests into the files of one format. Pure: writing them is `write-files.ts`.
 * @module
 */
import { toDefinitions } from '../../agent/formats/to-definitions.ts';
import type { CapabilityManifest } from '../manifest.ts';
import { capabilityText } from '../rtfs/write-capability.ts';
import type { ExportFormat } from './export-formats.ts';
import { fileNames } from './file-names.ts';
import { byServer, type ExportedFile, type ExportedFiles } from './files-by-server.ts';
import { catalogueText } from './markdown-catalogue.ts';
import { clientFiles } from './typescript-client.ts';
import { zodFiles } from './zod-files.ts';

/** Returns the files of an export. The names of servers and tools decide no path: see `fileNames`. */
export function exportFiles(manifests: Iterable<CapabilityManifest>, format: ExportFormat): ExportedFiles {
  const all = [...manifests];
  switch (format) {
    case 'rtfs':
      return { files: onePerTool(all, 'rtfs', capabilityText), notes: [] };
    case 'json':
      return { files: onePerTool(all, 'json', (one) => `${JSON.stringify(one, null, 2)}\n`), notes: [] };
    case 'markdown':
      return { files: [{ path: 'catalogue.md', text: catalogueText(all) }], notes: [] };
    case 'typescript':
      return clientFiles(all);
    case 'zod':
      return zodFiles(all);
    case 'anthropic':
      return definitionFiles(all, 'anthropic', 'anthropic');
    case 'openai':
      return definitionFiles(all, 'openai-responses', 'openai');
  }
}

/** `<server>/<tool>.<extension>` */
function onePerTool(
  manifests: readonly CapabilityManifest[],
  extension: string,
  write: (manifest: CapabilityManifest) => string,
): ExportedFile[] {
  return byServer(manifests).flatMap(({ file, own }) => {
    const tools = new Map(own.map((manifest) => [manifest.provider.toolName, manifest]));
    const names = fileNames(tools.keys());
    return [...tools].map(([name, manifest]) => ({
      path: `${file}/${names.get(name)}.${extension}`,
      text: write(manifest),
    }));
  });
}

/** The definitions as an API takes them, and which tool each name means. */
function definitionFiles(
  manifests: readonly CapabilityManifest[],
  format: 'anthropic' | 'openai-responses',
  file: string,
): ExportedFiles {
  const tools = manifests.map(({ provider: { server, toolName }, title, description, inputSchema }) => ({
    server,
    name: toolName,
    title,
    description,
    inputSchema,
  }));
  const { definitions, names, problems } = toDefinitions(tools, { format });
  const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
  return {
    files: [
      { path: `${file}-tools.json`, text: json(definitions) },
      { path: `${file}-names.json`, text: json(Object.fromEntries(names.entries())) },
    ],
    notes: problems.map(({ server, tool, message }) =>
      [server, tool, message].filter((part) => part !== '').join(': '),
    ),
  };
}

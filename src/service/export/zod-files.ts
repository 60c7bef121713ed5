/**
 * Writes zod schemas of inputs and outputs, a file for each server.
 * @module
 */
import { schemaToZod, zodModule } from '../convert/zod-source.ts';
import type { CapabilityManifest } from '../manifest.ts';
import { byServer, type ExportedFiles } from './files-by-server.ts';
import { Declarations, identifiers, pascal } from './identifiers.ts';

/** Returns `<server>.ts` with `<Tool>Input` and `<Tool>Output` for each tool. */
export function zodFiles(manifests: readonly CapabilityManifest[]): ExportedFiles {
  const notes: string[] = [];
  const files = byServer(manifests).map(({ server, file, own }) => {
    const tools = new Map(own.map((manifest) => [manifest.provider.toolName, manifest]));
    const names = identifiers(tools.keys());
    const declarations = new Declarations();
    const written = [...tools].flatMap(([tool, { inputSchema, outputSchema }]) => {
      const name = pascal(names.get(tool) ?? '');
      const write = (schema: unknown, own: string) => declarations.write(own, (free) => schemaToZod(schema, free));
      const all = [write(inputSchema, `${name}Input`)];
      if (outputSchema) all.push(write(outputSchema, `${name}Output`));
      for (const { path, text } of all.flatMap((one) => one.notes))
        notes.push(`${server}: ${tool}${path && `.${path}`}: ${text}`);
      return all;
    });
    return { path: `${file}.ts`, text: zodModule(written) };
  });
  return { files, notes };
}

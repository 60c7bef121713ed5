/**
 * Groups manifests by server, with the name of the server's file or folder.
 * @module
 */
import type { CapabilityManifest } from '../manifest.ts';
import { fileNames } from './file-names.ts';

/** A file to write: a path with `/` below the folder of the export, and its text. */
export interface ExportedFile {
  readonly path: string;
  readonly text: string;
}

/** Files, and what a person should know about them. */
export interface ExportedFiles {
  readonly files: readonly ExportedFile[];
  readonly notes: readonly string[];
}

/** Returns the manifests of each server, with the name of its files. */
export function byServer(
  manifests: readonly CapabilityManifest[],
): { readonly server: string; readonly file: string; readonly own: readonly CapabilityManifest[] }[] {
  const servers = new Map<string, CapabilityManifest[]>();
  for (const manifest of manifests) {
    const own = servers.get(manifest.provider.server);
    if (own) own.push(manifest);
    else servers.set(manifest.provider.server, [manifest]);
  }
  const files = fileNames(servers.keys());
  return [...servers].map(([server, own]) => ({ server, file: files.get(server) ?? '', own }));
}

/**
 * Configuration entries for servers nobody here wrote, started from where they are installed.
 * @module
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SECRET } from './sandbox.ts';

const require = createRequire(import.meta.url);

/** A stdio entry. */
export const entry = (name: string, args: readonly string[], more: object = {}, env: object = {}) => ({
  name,
  connection: { type: 'stdio', command: process.execPath, args, env },
  ...more,
});

/** The program of an installed server. */
export function installed(server: string): string {
  const manifest = require.resolve(`@modelcontextprotocol/server-${server}/package.json`);
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: Record<string, string> };
  return join(dirname(manifest), String(Object.values(bin)[0]));
}

/** A server of ours from the fixtures. */
export const fixture = (path: string): string => fileURLToPath(new URL(`../fixtures/${path}`, import.meta.url));

/** The reference server with one of everything; it is given the secret. */
export const everything = () => entry('everything', [installed('everything')], {}, { TOKEN: `\${${SECRET}}` });

/** The file server, allowed to see one folder. */
export const files = (folder: string) => entry('files', [installed('filesystem'), folder]);

/** The knowledge graph, kept in one file. */
export const memory = (file: string) => entry('memory', [installed('memory')], {}, { MEMORY_FILE_PATH: file });

/** Step by step thinking. */
export const thinking = () => entry('thinking', [installed('sequential-thinking')]);

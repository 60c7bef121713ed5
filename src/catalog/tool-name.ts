/**
 * Addresses tools by the pair (server, tool). `server:tool` and `server__tool` are accepted wherever a pair is
 * expected.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import type { ToolRef } from '../core/types.ts';

const SEPARATORS = ['__', ':'] as const;

/** `server__tool`, a tool's name where a single name is needed. */
export const formatToolName = ({ server, tool }: ToolRef): string => `${server}__${tool}`;

/**
 * All ways to read a single name as a pair. A server's name may itself contain a separator, so there can be several.
 */
export function* readingsOf(name: string): Generator<ToolRef> {
  if (name.length > LIMITS.names.qualified) return;
  for (const separator of SEPARATORS) {
    for (let at = name.indexOf(separator); at !== -1; at = name.indexOf(separator, at + 1)) {
      const server = name.slice(0, at);
      const tool = name.slice(at + separator.length);
      if (server !== '' && tool !== '') yield { server, tool };
    }
  }
}

/**
 * Resolves a server and a tool as written. Looks the names up before splitting them: a tool may be named `a:b`, and
 * agents write `github:create_issue` into either field.
 */
export function resolveToolRef(
  server: string,
  tool: string,
  knowsServer: (name: string) => boolean,
  knowsTool: (ref: ToolRef) => boolean,
): ToolRef {
  const plain = { server, tool };
  if (knowsServer(server)) {
    if (knowsTool(plain)) return plain;
    return [...readingsOf(tool)].find((reading) => reading.server === server) ?? plain;
  }
  const readings = (tool === '' ? [server] : [tool, server])
    .flatMap((name) => [...readingsOf(name)])
    .filter((reading) => knowsServer(reading.server));
  return readings.find(knowsTool) ?? readings[0] ?? plain;
}

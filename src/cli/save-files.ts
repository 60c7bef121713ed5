/**
 * Saves images, audio and resources of a result as files. Names cannot leave the folder, and existing files are kept.
 * @module
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DiscoveryError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import type { ContentBlock } from '../core/types.ts';
import { isObject } from '../json/plain-object.ts';
import { plainText } from '../text/plain-text.ts';

/** The data of a block. */
interface Payload {
  readonly bytes: Uint8Array;
  readonly mimeType: string | undefined;
  readonly uri: string | undefined;
  /** The text of a text resource. */
  readonly text: string | undefined;
}

export interface SavedFile {
  /** The index of its content block. */
  readonly block: number;
  readonly path: string;
  readonly bytes: number;
  readonly mimeType?: string | undefined;
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/svg+xml': 'svg',
  'audio/wav': 'wav',
  'audio/mpeg': 'mp3',
  'audio/ogg': 'ogg',
  'application/pdf': 'pdf',
  'application/json': 'json',
  'application/zip': 'zip',
  'text/plain': 'txt',
  'text/html': 'html',
  'text/markdown': 'md',
  'text/csv': 'csv',
};

/** The data of a block; undefined if it has none. */
export function payloadOf(block: ContentBlock): Payload | undefined {
  const holder = block.type === 'resource' && isObject(block.resource) ? block.resource : block;
  const encoded = block.type === 'resource' ? holder.blob : block.data;
  const text = block.type === 'resource' && typeof holder.text === 'string' ? holder.text : undefined;
  if (text === undefined && typeof encoded !== 'string') return undefined;
  return {
    bytes: text === undefined ? Buffer.from(encoded as string, 'base64') : Buffer.from(text, 'utf8'),
    mimeType: typeof holder.mimeType === 'string' ? holder.mimeType : undefined,
    uri: typeof holder.uri === 'string' ? holder.uri : undefined,
    text,
  };
}

/** Creates the folder before the call, so that an unusable folder is known in time. */
export async function openFolder(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true }).catch((error) => {
    throw unusable(folder, error);
  });
  return folder;
}

/** Saves what can be saved. Throws STORAGE_ERROR for what cannot be written. */
export async function saveFiles(content: readonly ContentBlock[], folder: string, tool: string): Promise<SavedFile[]> {
  const saved: SavedFile[] = [];
  try {
    for (const [block, one] of content.entries()) {
      const payload = payloadOf(one);
      if (payload === undefined) continue;
      const path = await writeNew(folder, fileName(payload, `${tool}-${saved.length + 1}`), payload.bytes);
      saved.push({ block, path, bytes: payload.bytes.length, mimeType: payload.mimeType });
    }
  } catch (error) {
    throw unusable(folder, error);
  }
  return saved;
}

const unusable = (folder: string, error: unknown): DiscoveryError =>
  new DiscoveryError('STORAGE_ERROR', `Cannot save to ${folder}: ${(error as Error).message}`, { cause: error });

/** A file name that is valid on every platform: from the last part of the URI, else from the tool. */
export function fileName({ uri, mimeType }: Pick<Payload, 'uri' | 'mimeType'>, fallback: string): string {
  const name = safe(lastPart(uri)) || safe(fallback) || 'file';
  const extension = Object.hasOwn(EXTENSIONS, mimeType ?? '') ? EXTENSIONS[mimeType ?? ''] : undefined;
  return /\.[A-Za-z0-9]{1,8}$/.test(name) || extension === undefined ? name : `${name}.${extension}`;
}

function lastPart(uri = ''): string {
  const path = uri.split(/[?#]/, 1)[0] ?? '';
  const part = path.split(/[\\/]/).findLast((piece) => piece !== '') ?? '';
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const safe = (text: string): string => {
  const name = plainText(text)
    .replace(/[^\p{L}\p{N}._-]+/gu, '_')
    .replace(/^[._]+|[._]+$/g, '');
  const short = [...name]
    .slice(-LIMITS.names.file)
    .join('')
    .replace(/^[._]+/, '');
  // Windows opens devices under these names, whatever the extension.
  return /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(short) ? `_${short}` : short;
};

async function writeNew(folder: string, name: string, bytes: Uint8Array): Promise<string> {
  const dot = name.lastIndexOf('.');
  const [stem, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  for (let number = 1; ; number++) {
    const path = join(folder, number === 1 ? name : `${stem}-${number}${extension}`);
    try {
      // Fails if anything exists at this path, even a link.
      await writeFile(path, bytes, { flag: 'wx' });
      return path;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || number >= LIMITS.files.saveTries) throw error;
    }
  }
}

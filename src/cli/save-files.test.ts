import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/fixtures/gateway/kit.ts';
import { fileName, openFolder, payloadOf, saveFiles } from './save-files.ts';

let folder: ReturnType<typeof tempFolder>;
beforeEach(() => {
  folder = tempFolder();
});
afterEach(() => folder[Symbol.dispose]());

const image = { type: 'image', mimeType: 'image/png', data: Buffer.from('picture').toString('base64') };
const resource = (uri: string, more: object) => ({ type: 'resource', resource: { uri, ...more } });

describe('files of a result', () => {
  it('are pictures, sound and resources; text is not', async () => {
    const saved = await saveFiles(
      [
        { type: 'text', text: 'no' },
        image,
        resource('file:///etc/notes.md?x#y', { text: 'hello' }),
        resource('https://example.com/a%20b/data', { blob: 'AAEC', mimeType: 'application/pdf' }),
        { type: 'image' },
        { type: 'resource' },
      ],
      folder.path,
      'shot',
    );
    expect(saved.map(({ block, path, bytes }) => [block, path, bytes])).toEqual([
      [1, join(folder.path, 'shot-1.png'), 7],
      [2, join(folder.path, 'notes.md'), 5],
      [3, join(folder.path, 'data.pdf'), 3],
    ]);
    expect(readFileSync(join(folder.path, 'shot-1.png'), 'utf8')).toBe('picture');
    expect(payloadOf({ type: 'text', text: 'x' })).toBeUndefined();
  });

  it('never replace what is there, not even through a link', async () => {
    const precious = join(folder.path, 'precious');
    const place = await openFolder(join(folder.path, 'new', 'place'));
    writeFileSync(precious, 'precious');
    symlinkSync(precious, join(place, 'shot-1.png'));
    writeFileSync(join(place, 'shot-1-2.png'), 'mine');
    const [saved] = await saveFiles([image], place, 'shot');
    expect(saved?.path).toBe(join(place, 'shot-1-3.png'));
    expect(readFileSync(precious, 'utf8')).toBe('precious');
    expect(readdirSync(place)).toHaveLength(3);
  });

  it('that cannot be written are an error that says where', async () => {
    writeFileSync(join(folder.path, 'file'), '');
    await expect(openFolder(join(folder.path, 'file', 'sub'))).rejects.toMatchObject({ code: 'STORAGE_ERROR' });
    await expect(saveFiles([image], join(folder.path, 'missing'), 't')).rejects.toThrow('Cannot save to');
    mkdirSync(join(folder.path, 'missing'));
  });

  it('have names that stay in the folder, whatever a server says', () => {
    expect(fileName({ uri: 'file:///../../etc/passwd', mimeType: undefined }, 't')).toBe('passwd');
    expect(fileName({ uri: 'x/%2e%2e%2f%2e%2e%2fevil', mimeType: undefined }, 't')).toBe('evil');
    expect(fileName({ uri: 'C:\\windows\\con.txt', mimeType: undefined }, 't')).toBe('_con.txt');
    expect(fileName({ uri: 'a/.bashrc', mimeType: undefined }, 't')).toBe('bashrc');
    expect(fileName({ uri: '%zz', mimeType: 'constructor' }, 't')).toBe('zz');
    expect(fileName({ uri: undefined, mimeType: 'text/csv' }, '../..')).toBe('file.csv');
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (uri, tool) => {
        const name = fileName({ uri, mimeType: undefined }, tool);
        expect(dirname(resolve('/folder', name))).toBe('/folder');
        expect(name).toMatch(/^[^\u0000-\u001f./\\][^\u0000-\u001f/\\]{0,110}$/u);
      }),
    );
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expandReferences } from '../../config/references.ts';
import type { World } from '../../config/world.ts';
import type { VariableStyle } from './dialect.ts';
import { type Surroundings, VariableReader } from './variables.ts';

const world: World = { home: '/home/ada', cwd: '/w', env: {}, platform: 'linux' };
const around = { world, folder: '/etc/client' };
const convert = (style: VariableStyle, text: string, changes: Partial<Surroundings> = {}) =>
  new VariableReader(style, { ...around, ...changes }).convert(text);

describe('references of clients become ours', () => {
  it.each<[VariableStyle, string, string]>([
    ['literal', 'a ${X} $X {env:X}', 'a $${X} $X {env:X}'],
    [
      'braces',
      '${X} ${X:-d} ${env:X} ${file:~/t} ${file:rel}',
      '${X} ${X:-d} ${X} ${file:/home/ada/t} ${file:/etc/client/rel}',
    ],
    ['braces', '$X ${a.b} ${', '$X $${a.b} $${'],
    ['dollar', '$X-${X}-${X:-}-$1 100$', '${X}-${X}-${X:-}-$1 100$'],
    ['dollar', '%X%', '%X%'],
    ['shell', '$X ${X:-y} \\$X', '${X} ${X:-y} $X'],
    ['vscode', '${env:X} ${X} ${userHome}${/}${pathSeparator}', '${X} $${X} /home/ada//'],
    ['vscode', '${workspaceFolder}', '${workspaceFolder}'],
    [
      'opencode',
      '{env:X} {file:~/t} {file:../t} ${X} {other}',
      '${X} ${file:/home/ada/t} ${file:/etc/t} $${X} {other}',
    ],
    ['continue', '${{ secrets.X }} ${{inputs.Y}} ${{ other }} ${X}', '${X} ${Y} $${{ other }} $${X}'],
  ])('%s: %s', (style, text, expected) => {
    expect(convert(style, text)).toBe(expected);
  });

  it('on Windows %NAME% is a variable where it is one for the client, and paths have another separator', () => {
    const windows = { world: { ...world, platform: 'win32' as const } };
    expect(convert('dollar', '%X%\\100%', windows)).toBe('${X}\\100%');
    expect(convert('braces', '%X%', windows)).toBe('%X%');
    expect(convert('vscode', '${/}', windows)).toBe('\\');
  });

  it('a project fills in its own folder', () => {
    const text = '${workspaceFolder}/x ${workspaceFolder:api} ${workspaceFolderBasename}';
    expect(convert('vscode', text, { workspace: '/src/app' })).toBe('/src/app/x /src/app app');
  });

  it('what VS Code asks for comes from a variable, with its default', () => {
    const inputs = [{ id: 'my key', description: 'Key' }, { id: 'r', default: 'eu' }, 5];
    const reader = new VariableReader('vscode', { ...around, inputs });
    expect(reader.convert('${input:my key} ${input:r} ${input:unknown}')).toBe(
      '${INPUT_MY_KEY} ${INPUT_R:-eu} ${INPUT_UNKNOWN}',
    );
    expect(reader.notes).toEqual([
      'VS Code asks for "my key" (Key); set the environment variable INPUT_MY_KEY instead',
      'VS Code asks for "unknown"; set the environment variable INPUT_UNKNOWN instead',
    ]);
    const set = new VariableReader('vscode', { ...around, world: { ...world, env: { INPUT_X: '1' } } });
    set.convert('${input:x}');
    expect(set.notes).toEqual([]);
  });

  it.each<[VariableStyle, string]>([
    ['shell', 'a $(op read x)'],
    ['shell', '`op read x`'],
    ['shell', '${X:?missing}'],
    ['vscode', '${command:pick}'],
    ['vscode', '${config:a.b}'],
  ])('%s: %s needs a person', (style, text) => {
    const reader = new VariableReader(style, around);
    reader.convert(text);
    expect(reader.attention).toMatch(/^it (runs|uses) /);
  });

  it('text without variables arrives as it was, in any style', () => {
    const styles: VariableStyle[] = ['literal', 'braces', 'dollar', 'vscode', 'opencode', 'continue'];
    fc.assert(
      fc.property(
        fc.constantFrom(...styles),
        fc.string({ unit: fc.constantFrom('a', '$', '{', '}', ' ', ':', '\\') }),
        (style, text) => {
          fc.pre(!/\$\{?a/.test(text));
          expect(expandReferences(convert(style, text), {})).toBe(text);
        },
      ),
    );
  });

  it('literal text survives expansion, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('$', '{', '}', 'A', ':', '-') }), (text) => {
        expect(expandReferences(convert('literal', text), { A: 'value' })).toBe(text);
      }),
    );
  });

  it('takes time in proportion to the text: anything else would not end in time', () => {
    const hostile = `${'${ '.repeat(200_000)}}`;
    expect(expandReferences(convert('vscode', hostile), {})).toBe(hostile);
  });
});

import { expect, it } from 'vitest';
import { withShortPaths } from './shown-connection.ts';

it('cuts long paths, and leaves addresses and references whole', () => {
  expect(withShortPaths('node /a/b/c/d/e/index.js')).toBe('node …/d/e/index.js');
  expect(withShortPaths('x https://example.com/a/b/c/d')).toBe('x https://example.com/a/b/c/d');
  expect(withShortPaths('node ${HOME}/a/b/c/d/index.js')).toBe('node …/c/d/index.js');
  expect(withShortPaths('x --key ${file:/home/ann/.anygpt/secrets/KEY}')).toBe(
    'x --key ${file:/home/ann/.anygpt/secrets/KEY}',
  );
});

/**
 * A configuration written as code in, what it exports out. TypeScript needs no build step, and
 * `@anygpt/discovery/config` can be imported although nothing is installed beside the file.
 * @module
 */
import { chmod, mkdir } from 'node:fs/promises';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConfigurationError } from '../errors.ts';
import { isObject } from '../plain-object.ts';

const DEFINE_CONFIG = fileURLToPath(new URL(`./define-config${extname(import.meta.url)}`, import.meta.url));

/** How a configuration module is run. */
export interface RunOptions {
  /** Folder for compiled files; it must belong to the user, for what lies there is executed. */
  readonly cacheFolder: string;
  /** How long top-level `await` may take. */
  readonly timeout?: number | undefined;
}

/** Runs the text of a configuration file and gives its default export. The text that was checked is the text that runs. */
export async function runModule(path: string, text: string, options: RunOptions): Promise<unknown> {
  const { createJiti } = await import('jiti');
  const jiti = createJiti(path, {
    moduleCache: false,
    fsCache: (await isPrivate(options.cacheFolder)) && options.cacheFolder,
    interopDefault: false,
    alias: { '@anygpt/discovery/config': DEFINE_CONFIG },
  });
  // Under its own ending an `.mjs` file would be imported from disk by Node, once for good: another text than this, later.
  const ext = extname(path) === '.mjs' ? '.mts' : extname(path);
  const run = async () => jiti.evalModule(text, { filename: path, ext, async: true });
  const exported = await within(options.timeout ?? 10_000, path, run);
  const value = isObject(exported) && 'default' in exported ? exported.default : exported;
  if (typeof value === 'function') {
    throw new ConfigurationError(
      `${path} exports a function. Export the configuration object itself: export default { … }.`,
    );
  }
  if (isObject(value) && typeof value.then === 'function') {
    throw new ConfigurationError(`${path} exports a promise. Await it first: export default await …`);
  }
  if (value === undefined || (value === exported && isObject(value) && Object.keys(value).length === 0)) {
    throw new ConfigurationError(`${path} exports nothing. Write: export default { discovery: { … } }.`);
  }
  return value;
}

/** Compiled copies hold what the file holds, secrets too: makes the folder, and those above it, for the user alone. */
async function isPrivate(folder: string): Promise<boolean> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
    return true;
  } catch {
    // Without a folder of our own nothing is kept, and the file is compiled anew each time.
    return false;
  }
}

async function within(milliseconds: number, path: string, run: () => Promise<unknown>): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const message = `${path} did not finish loading within ${milliseconds} ms. Look for an await that never ends.`;
    timer = setTimeout(() => reject(new ConfigurationError(message)), milliseconds);
  });
  try {
    return await Promise.race([run(), late]);
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw new ConfigurationError(`${path} could not be run: ${toOneLine(message)}${importHint(message)}`, [], {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
  }
}

/** Our two functions are not there by themselves. */
function importHint(message: string): string {
  const [, name] = /^(config|defineConfig) is not (?:defined|a function)/.exec(message) ?? [];
  return name === undefined ? '' : `. Add this line at the top: import { ${name} } from '@anygpt/discovery/config';`;
}

const toOneLine = (message: string) => message.slice(0, 1_000).replace(/\s+/g, ' ').trim();

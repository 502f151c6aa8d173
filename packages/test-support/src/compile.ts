import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const requireThere = createRequire(require.resolve('typescript/package.json'));
const PLATFORM = `@typescript/typescript-${process.platform}-${process.arch}`;
/** The compiler itself, because the one in node_modules/.bin is a program for Node that only starts it. */
export const TSC: string = join(dirname(requireThere.resolve(`${PLATFORM}/package.json`)), 'lib/tsc');
const OPTIONS =
  '--noEmit --skipLibCheck --singleThreaded --target es2022 --module nodenext --types node --ignoreConfig';

/**
 * Compiles one program with what it imports and nothing else, and returns the errors.
 *
 * @param flags Further options of the compiler.
 */
export async function compile(path: string, ...flags: string[]): Promise<string> {
  const args = [...OPTIONS.split(' '), ...flags, path];
  const { stdout } = await promisify(execFile)(TSC, args).catch((error) => error);
  return stdout;
}

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const TSC = join(__dirname, '../../../node_modules/typescript/bin/tsc');
const OPTIONS =
  '--noEmit --skipLibCheck --singleThreaded --target es2022 --module nodenext --types node --ignoreConfig';

/**
 * Compiles one program with what it imports and nothing else, and returns the errors.
 *
 * @param flags Further options of the compiler.
 */
export async function compile(path: string, ...flags: string[]): Promise<string> {
  const args = [TSC, ...OPTIONS.split(' '), ...flags, path];
  const { stdout } = await promisify(execFile)(process.execPath, args).catch((error) => error);
  return stdout;
}

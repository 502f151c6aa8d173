import { constants, fstatSync, writeFileSync } from 'node:fs';
import { access, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { OutputError, reasonOf, UsageError } from './errors.js';

const STANDARD_OUTPUT = 1;

/**
 * Prints what was found.
 *
 * @throws OutputError when standard output is a file that does not take all of it. Of others, its `error` event tells.
 */
export function print(text: string): void {
  // Node's stream takes for done what a disk that gets full took in part.
  if (!fstatSync(STANDARD_OUTPUT).isFile()) process.stdout.write(text);
  else {
    try {
      writeFileSync(STANDARD_OUTPUT, text);
    } catch (error) {
      throw cannotPrint(error);
    }
  }
}

export function cannotPrint(error: unknown): OutputError {
  return new OutputError(`Cannot write standard output: ${reasonOf(error)}`);
}

/**
 * Known before the log is read, which may take long.
 *
 * @throws UsageError when the page cannot be written.
 */
export async function checkWritable(path: string): Promise<void> {
  try {
    const found = await stat(path).catch(() => undefined);
    if (found?.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' });
    if (found !== undefined) await access(path, constants.W_OK);
    if (found === undefined || found.isFile()) await access(dirname(await targetOf(path)), constants.W_OK);
  } catch (error) {
    throw new UsageError(cannotWrite(path, error));
  }
}

/**
 * Whoever opens the page finds a whole one: it is written beside its place and put there at the end.
 *
 * @throws OutputError when it cannot be written.
 */
export async function writePage(path: string, page: string): Promise<void> {
  try {
    const target = await targetOf(path);
    const found = await stat(target).catch(() => undefined);
    // What is no file, such as /dev/stdout, is written to, never replaced.
    if (found !== undefined && !found.isFile()) return await writeFile(target, page);
    await replace(target, page, found?.mode);
  } catch (error) {
    throw new OutputError(cannotWrite(path, error));
  }
}

async function replace(target: string, page: string, mode: number | undefined): Promise<void> {
  const beside = `${target}.${process.pid}.tmp`;
  try {
    await writeFile(beside, page, { flag: 'wx', ...(mode === undefined ? {} : { mode }) });
    await rename(beside, target);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}

/** A link stays a link. */
function targetOf(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

function cannotWrite(path: string, error: unknown): string {
  return `Cannot write \`--html\` ${JSON.stringify(path)}: ${reasonOf(error)}`;
}

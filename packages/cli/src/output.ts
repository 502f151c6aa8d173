import { constants, fstatSync, writeFileSync } from 'node:fs';
import { access, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { OutputError, reasonOf } from './errors.js';

const STANDARD_OUTPUT = 1;

/**
 * Prints to standard output. If that is not a file, a failure becomes its `error` event.
 *
 * @throws OutputError when standard output is a file that does not take the whole text.
 */
export function print(text: string): void {
  // Node's stream reports success even if a full disk took only a part.
  if (!fstatSync(STANDARD_OUTPUT).isFile()) process.stdout.write(text);
  else {
    try {
      writeFileSync(STANDARD_OUTPUT, text);
    } catch (error) {
      throw toOutputError(error);
    }
  }
}

export function toOutputError(error: unknown): OutputError {
  return new OutputError(`Cannot write standard output: ${reasonOf(error)}`);
}

/**
 * Checks the page's path before the log is read, which may take long.
 *
 * @throws OutputError when the page cannot be written.
 */
export async function checkWritable(path: string): Promise<void> {
  try {
    const found = await stat(path).catch(() => undefined);
    if (found?.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' });
    if (found !== undefined) await access(path, constants.W_OK);
    if (found === undefined || found.isFile()) await access(dirname(await targetOf(path)), constants.W_OK);
  } catch (error) {
    throw new OutputError(toWriteMessage(path, error));
  }
}

/**
 * Writes the page to a temporary file and renames it at the end, so that a reader never finds a part of it.
 *
 * @throws OutputError when the page cannot be written.
 */
export async function writePage(path: string, page: string): Promise<void> {
  try {
    const target = await targetOf(path);
    const found = await stat(target).catch(() => undefined);
    // A target that is not a regular file, such as /dev/stdout, is written to and never replaced.
    if (found !== undefined && !found.isFile()) return await writeFile(target, page);
    await replace(target, page, found?.mode);
  } catch (error) {
    throw new OutputError(toWriteMessage(path, error));
  }
}

async function replace(target: string, page: string, mode: number | undefined): Promise<void> {
  const temporary = `${target}.${process.pid}.tmp`;
  try {
    await writeFile(temporary, page, { flag: 'wx', ...(mode === undefined ? {} : { mode }) });
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Follows links, so that a link stays a link. */
function targetOf(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

function toWriteMessage(path: string, error: unknown): string {
  return `Cannot write \`--html\` ${JSON.stringify(path)}: ${reasonOf(error)}`;
}

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { build } from 'esbuild';

export const FOLDER = join(__dirname, '../..');

/** From here the examples find the packages that they import. */
const compiled = mkdtempSync(join(FOLDER, 'node_modules/.compiled-'));
afterAll(() => rmSync(compiled, { recursive: true }));

/**
 * Compiles an example with the files that it imports, and returns the path of the program. Each process that starts through tsx takes four times the
 * CPU time, so only `notifications.ts` runs as users start it.
 *
 * @param change Returns the source that runs instead, such as one with shorter windows.
 */
export async function compile(file: string, change = (source: string) => source): Promise<string> {
  return compileText(file, change(readFileSync(join(FOLDER, file), 'utf8')));
}

/** Compiles a program that is as an example with this name, and returns its path. */
async function compileText(file: string, contents: string): Promise<string> {
  const program = join(compiled, file.replace(/\.ts$/, '.mjs'));
  const stdin = { contents, sourcefile: file, resolveDir: FOLDER, loader: 'ts' as const };
  await build({ stdin, outfile: program, bundle: true, packages: 'external', platform: 'node', format: 'esm' });
  return program;
}

/** Runs an example that ends by itself, and returns what it prints. */
export async function outputOf(file: string, env: Record<string, string> = {}): Promise<string> {
  const options = { cwd: FOLDER, env: { ...process.env, ...env } };
  return (await promisify(execFile)(process.execPath, [await compile(file)], options)).stdout;
}

const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null) continue;
    child.kill();
    await once(child, 'exit');
  }
});

/** Starts an example server on a free port, and resolves to its output up to the last line. */
export async function start(
  file: string,
  env: Record<string, string | undefined> = {},
): Promise<{ url: string; printed: string }> {
  const program = await compile(file);
  const child = spawn(process.execPath, [program], { cwd: FOLDER, env: { ...process.env, PORT: '0', ...env } });
  children.push(child);
  let printed = '';
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    printed += chunk;
    if (printed.includes('Ctrl-C')) break;
  }
  child.stdout.resume(); // What it prints later is not to wait, nor to fail.
  return { url: urlIn(printed), printed };
}

const urlIn = (printed: string) => printed.match(/http:\/\/127\.0\.0\.1:\d+/)![0];

/** Runs programs one after the other, and prints what each prints first as a line of JSON. */
const RUNNER = `
const { log } = console;
for (const program of process.argv.slice(1)) {
  await new Promise((resolve, reject) => {
    console.log = (text) => {
      console.log = log;
      log(JSON.stringify(text));
      resolve();
    };
    import(program).catch(reject);
  });
}
`;

/** A program that is no example, or a changed one. */
export interface Program {
  readonly name: string;
  readonly source: string;
}

/** Starts several example servers in one process, which takes less time than one process for each. */
export async function startTogether(
  files: readonly (string | Program)[],
  env: Record<string, string> = {},
): Promise<{ urls: string[]; printed: string[]; stop(): Promise<void> }> {
  const programs = await Promise.all(
    files.map((file) => (typeof file === 'string' ? compile(file) : compileText(file.name, file.source))),
  );
  const args = ['--input-type=module', '--eval', RUNNER, '--', ...programs];
  const child = spawn(process.execPath, args, {
    cwd: FOLDER,
    env: { ...process.env, NODE_NO_WARNINGS: '1', PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const printed: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    printed.push(JSON.parse(line));
    if (printed.length === files.length) break;
  }
  child.stdout.resume(); // What it prints later is not to wait, nor to fail.
  const stop = async () => {
    child.kill();
    await once(child, 'exit');
  };
  return { urls: printed.map(urlIn), printed, stop };
}

export async function statuses(url: string, count: number, init?: RequestInit): Promise<number[]> {
  const found: number[] = [];
  for (let turn = 0; turn < count; turn++) found.push((await fetch(url, init)).status);
  return found;
}

import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ComparisonJson, LogJson, SimulationJson, SuggestionsJson } from '../../src/report/json-report';

/** The built command. `npm test` builds it before the tests run. */
export const MAIN = join(__dirname, '../../dist/main.js');
const RUNNER = join(__dirname, 'command-runner.mjs');

export interface Exit {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface RunOptions {
  /** Standard input. @defaultValue nothing */
  readonly input?: Iterable<string | Buffer> | undefined;
  /** With these, the command runs in its own process. */
  readonly nodeOptions?: readonly string[];
  /** Additional environment variables, for a command in its own process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs the command in the test's own folder, so file names need no path. */
export async function rollgate(
  args: readonly string[],
  { input = [], nodeOptions, env }: RunOptions = {},
): Promise<Exit> {
  if (nodeOptions !== undefined) return runInProcess(args, input, nodeOptions, env);
  const ended = (last ?? Promise.resolve()).then(() => runInRunner(args, input));
  last = ended.catch(() => {});
  return ended;
}

let runner: ChildProcess | undefined;
/** The runner runs one command at a time. */
let last: Promise<unknown> | undefined;
afterAll(() => runner?.disconnect());

async function runInRunner(args: readonly string[], input: Iterable<string | Buffer>): Promise<Exit> {
  runner ??= fork(RUNNER, [MAIN], { serialization: 'advanced', stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const reply = once(runner, 'message');
  const bytes = [...input].map((chunk) => Buffer.from(chunk as string));
  runner.send({ args, cwd: folder(), input: bytes });
  return (await reply)[0] as Exit;
}

async function runInProcess(
  args: readonly string[],
  input: Iterable<string | Buffer>,
  nodeOptions: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Exit> {
  const child = spawn(process.execPath, [...nodeOptions, MAIN, ...args], {
    cwd: folder(),
    env: { ...process.env, ...env },
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  const ended = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve));
  // A command that has failed stops reading, which does not matter here.
  await pipeline(Readable.from(input, { objectMode: true }), child.stdin).catch(() => {});
  return { code: await ended, stdout, stderr };
}

/** Returns the output of `--json`. @throws Error unless the exit code is 0. */
async function found<Found>(args: readonly string[], options?: RunOptions): Promise<Found & LogJson> {
  const { code, stdout, stderr } = await rollgate([...args, '--json'], options);
  if (code !== 0) throw new Error(`rollgate ${args.join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}

export const simulate = (args: readonly string[], options?: RunOptions) =>
  found<SimulationJson>(['simulate', ...args], options);
export const suggest = (args: readonly string[], options?: RunOptions) =>
  found<SuggestionsJson>(['suggest', ...args], options);
export const compare = (args: readonly string[]) => found<ComparisonJson>(['compare', ...args]);

let temporary: string | undefined;

/** The folder with the logs of this file's tests, which is removed after them. */
export function folder(): string {
  temporary ??= mkdtempSync(join(tmpdir(), 'rollgate-cli-'));
  return temporary;
}

export function write(name: string, content: string | Buffer): void {
  writeFileSync(join(folder(), name), content);
}

afterAll(() => {
  if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true });
});

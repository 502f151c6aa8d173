import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { AccountJson, ComparisonJson, SimulationJson, SuggestionsJson } from '../../src/report/json-report';

/** The command as it is built: `npm test` builds before it tests. */
export const MAIN = join(__dirname, '../../dist/esm/main.js');
const RUNNER = join(__dirname, 'runner.mjs');

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Surroundings {
  /** What comes in by standard input: nothing, unless told. */
  readonly input?: Iterable<string | Buffer> | undefined;
  /** With these the command has a process of its own. */
  readonly nodeOptions?: readonly string[];
}

/** Runs the command in a folder of the test's own, where files are named without a path. */
export async function rollgate(
  args: readonly string[],
  { input = [], nodeOptions }: Surroundings = {},
): Promise<Ended> {
  if (nodeOptions !== undefined) return inOwnProcess(args, input, nodeOptions);
  const ended = (last ?? Promise.resolve()).then(() => inRunner(args, input));
  last = ended.catch(() => {});
  return ended;
}

let runner: ChildProcess | undefined;
/** The runner runs one command at a time. */
let last: Promise<unknown> | undefined;
afterAll(() => runner?.disconnect());

async function inRunner(args: readonly string[], input: Iterable<string | Buffer>): Promise<Ended> {
  runner ??= fork(RUNNER, [MAIN], { serialization: 'advanced', stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const answer = once(runner, 'message');
  const bytes = [...input].map((chunk) => Buffer.from(chunk as string));
  runner.send({ args, cwd: folder(), input: bytes });
  return (await answer)[0] as Ended;
}

async function inOwnProcess(
  args: readonly string[],
  input: Iterable<string | Buffer>,
  nodeOptions: readonly string[],
): Promise<Ended> {
  const child = spawn(process.execPath, [...nodeOptions, MAIN, ...args], { cwd: folder() });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  const ended = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve));
  // One that has failed reads no more, and that is no matter here.
  await pipeline(Readable.from(input, { objectMode: true }), child.stdin).catch(() => {});
  return { code: await ended, stdout, stderr };
}

/** What the command prints with `--json`. Fails unless it ends with 0. */
async function found<Found>(args: readonly string[], surroundings?: Surroundings): Promise<Found & AccountJson> {
  const { code, stdout, stderr } = await rollgate([...args, '--json'], surroundings);
  if (code !== 0) throw new Error(`rollgate ${args.join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}

export const simulate = (args: readonly string[], surroundings?: Surroundings) =>
  found<SimulationJson>(['simulate', ...args], surroundings);
export const suggest = (args: readonly string[]) => found<SuggestionsJson>(['suggest', ...args]);
export const compare = (args: readonly string[]) => found<ComparisonJson>(['compare', ...args]);

let temporary: string | undefined;

/** Where this file's tests keep their logs; gone after them. */
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

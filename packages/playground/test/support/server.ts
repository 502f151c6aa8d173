import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { until } from '@rollgate/test-support';
import type { Attempt, Records, Update } from '../../src/shared/protocol.js';
import type { Settings } from '../../src/shared/settings.js';

const MAIN = join(__dirname, '../../dist/server/main.js');
const WITH_CLOCK = join(__dirname, 'serve-with-clock.mjs');

/** The result of a program that ends by itself. */
export interface ProgramResult {
  readonly code: number | null;
  readonly output: string;
}

/** The real program in its own process. */
export class Server {
  readonly url: string;
  readonly greeting: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, greeting: string) {
    this.#child = child;
    this.greeting = greeting;
    this.url = /http:\/\/[\d.:]+/.exec(greeting)![0];
  }

  /** Resolves when it has printed its address. */
  static async start(env: NodeJS.ProcessEnv = {}): Promise<Server> {
    return Server.#listening(spawnServer(MAIN, { PORT: '0', ...env }));
  }

  static async #listening(child: ChildProcess): Promise<Server> {
    let output = '';
    child.stdout!.on('data', (chunk) => (output += chunk));
    child.stderr!.on('data', (chunk) => (output += chunk));
    await until('the server listens', async () => {
      if (child.exitCode !== null) throw new Error(`The playground did not start:\n${output}`);
      return output.includes('Ctrl-C');
    });
    return new Server(child, output);
  }

  /** Starts a server whose clock the test moves. Its pages follow that clock. */
  static async startWithClock(): Promise<Server> {
    return Server.#listening(spawnServer(WITH_CLOCK, {}));
  }

  /** The time of a server with such a clock, which runs from now on. */
  now(): Promise<number> {
    return this.#move({});
  }

  async skip(ms: number): Promise<void> {
    await this.#move({ toMs: (await this.now()) + ms });
  }

  /** Moves the clock to this time. It stands still there until it is moved again. */
  async standAt(toMs: number): Promise<void> {
    await this.#move({ toMs, stands: true });
  }

  /** Records attempts without requests, as a flood for the pages but not for the limiter. */
  async publish(allowed: number, rejected: number): Promise<void> {
    await this.#move({ attempts: { allowed, rejected } });
  }

  async #move(change: { toMs?: number; stands?: boolean; attempts?: object }): Promise<number> {
    const reply = once(this.#child, 'message');
    this.#child.send(change);
    return (await reply)[0] as number;
  }

  /** Starts another server on the same port. */
  restarted(env: NodeJS.ProcessEnv = {}): Promise<Server> {
    return Server.start({ PORT: new URL(this.url).port, ...env });
  }

  /** Kills the server, or sends it `signal`. */
  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const exited = once(this.#child, 'exit');
      this.#child.kill(signal);
      await exited;
    }
    return this.#child.exitCode;
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(signal);
  }

  async hit(): Promise<Response> {
    const response = await fetch(`${this.url}/hit`, { method: 'POST' });
    await response.arrayBuffer();
    return response;
  }

  put(settings: unknown): Promise<Response> {
    const headers = { 'Content-Type': 'application/json' };
    return fetch(`${this.url}/settings`, { method: 'PUT', headers, body: JSON.stringify(settings) });
  }

  /** Starts over with these settings instead of the default ones. */
  async begin(settings: Partial<Settings>): Promise<void> {
    const all = { algorithm: 'rolling', limit: 10, windowMs: 10_000, minDifferenceMs: 0, ...settings };
    const response = await this.put(all);
    if (!response.ok) throw new Error(await response.text());
    await fetch(`${this.url}/reset`, { method: 'POST' });
    await until('the reset and the settings have arrived', async () => {
      const { attempts, state } = await this.records();
      const { settings } = state;
      return (
        attempts.length === 0 &&
        Object.entries(all).every(([name, value]) => settings[name as keyof Settings] === value)
      );
    });
  }

  async settings(): Promise<Settings> {
    return (await this.records()).state.settings;
  }

  async records(): Promise<Records> {
    return (await (await fetch(`${this.url}/records`)).json()) as Records;
  }

  /** The update that a new page gets once the server has computed it after the page connected. */
  async update(): Promise<Update> {
    const leaving = new AbortController();
    const { body } = await fetch(`${this.url}/events`, { signal: leaving.signal });
    let text = '';
    for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const updates = text
        .split('\n\n')
        .slice(0, -1)
        .map((event) => JSON.parse(event.slice('data: '.length)) as Update);
      const last = updates.at(-1);
      // While another page is open, the first update repeats what that page knows.
      if (updates.length > 1 && last?.next !== undefined) {
        leaving.abort();
        return last;
      }
    }
    throw new Error('The server sent nothing');
  }

  async attempts(): Promise<readonly Attempt[]> {
    return (await this.records()).attempts;
  }
}

function spawnServer(program: string, env: NodeJS.ProcessEnv): ChildProcess {
  if (!existsSync(MAIN)) throw new Error('The playground is not built: run `npm run build`');
  const { REDIS_URL: _url, HOST: _host, ...outside } = process.env;
  const stdio = ['ignore', 'pipe', 'pipe', ...(program === WITH_CLOCK ? (['ipc'] as const) : [])] as const;
  const child = spawn(process.execPath, [program], { env: { ...outside, ...env }, stdio: [...stdio] });
  endWithTests(child);
  return child;
}

/** A shell that cleans up even when the tests are killed: it waits for the end of a pipe. */
function endWithTests(child: ChildProcess): void {
  const script = 'read -r hasEnded || kill -9 "$1"';
  const shell = spawn('/bin/sh', ['-c', script, 'watch', String(child.pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true, // Signals from a terminal must not reach it.
  });
  const stdin = shell.stdin as Socket;
  stdin.on('error', () => {}); // The process may have ended.
  shell.unref();
  stdin.unref();
  child.once('exit', () => stdin.end('yes\n'));
}

/** Runs the program with settings that it rejects. */
export async function runToEnd(env: NodeJS.ProcessEnv): Promise<ProgramResult> {
  const child = spawnServer(MAIN, env);
  let output = '';
  child.stdout!.on('data', (chunk) => (output += chunk));
  child.stderr!.on('data', (chunk) => (output += chunk));
  await once(child, 'close');
  return { code: child.exitCode, output };
}

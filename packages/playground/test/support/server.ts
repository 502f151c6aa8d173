import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '@rollgate/test-support';

const MAIN = join(__dirname, '../../dist/server/main.js');

/** The real program in its own process. */
export class Server {
  readonly url: string;
  readonly greeting: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, greeting: string) {
    this.#child = child;
    this.greeting = greeting;
    this.url = /http:\/\/127[\d.:]+/.exec(greeting)![0];
  }

  /** Resolves when it has printed its address. */
  static async start(env: NodeJS.ProcessEnv = {}): Promise<Server> {
    const child = spawnServer({ PORT: '0', ...env });
    const output = outputOf(child);
    await until('the server listens', async () => {
      if (child.exitCode !== null) throw new Error(`The playground did not start:\n${output()}`);
      return output().includes('Ctrl-C');
    });
    return new Server(child, output());
  }

  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<number | null> {
    const exited = once(this.#child, 'exit');
    this.#child.kill(signal);
    await exited;
    return this.#child.exitCode;
  }

  hit(query = ''): Promise<Response> {
    return fetch(`${this.url}/hit${query}`, { method: 'POST' });
  }
}

/** Runs the program with settings that it rejects. */
export async function runToEnd(env: NodeJS.ProcessEnv): Promise<{ code: number | null; output: string }> {
  const child = spawnServer(env);
  const output = outputOf(child);
  await once(child, 'close');
  return { code: child.exitCode, output: output() };
}

function spawnServer(env: NodeJS.ProcessEnv): ChildProcess {
  if (!existsSync(MAIN)) throw new Error('The playground is not built: run `npm run build`');
  const { REDIS_URL: _url, HOST: _host, ...outside } = process.env;
  return spawn(process.execPath, [MAIN], { env: { ...outside, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
}

function outputOf({ stdout, stderr }: ChildProcess): () => string {
  let output = '';
  for (const stream of [stdout!, stderr!]) stream.on('data', (chunk) => (output += chunk));
  return () => output;
}

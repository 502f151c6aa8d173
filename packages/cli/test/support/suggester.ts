import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { bundleProgram } from '@rollgate/test-support/bundle-program';

interface Rejections {
  readonly limit: number;
  readonly rejectedRequests: number;
  readonly rejectedCallers: number;
}

export interface Suggestion {
  readonly forRequests: Rejections;
  readonly forCallers: Rejections;
  readonly forAll: Rejections;
  readonly curve: readonly Rejections[];
}

export interface SuggestionRequest {
  readonly windowMs: number;
  readonly share: number;
  /** The time in microseconds, never decreasing, and which caller. */
  readonly hits: readonly (readonly [micros: number, caller: number])[];
}

/** A child process that responds to each line with a line. */
class SuggesterProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: Interface;
  readonly #ended: Promise<never>;

  constructor() {
    const program = bundleProgram(join(__dirname, 'suggester-process.mjs'));
    this.#child = spawn(process.execPath, [program]);
    this.#child.once('exit', () => rmSync(dirname(program), { recursive: true }));
    this.#lines = createInterface({ input: this.#child.stdout });
    this.#ended = once(this.#child, 'exit').then(() => Promise.reject(new Error('The suggester has exited')));
    this.#ended.catch(() => {}); // It may exit while no request waits.
  }

  async send(line: string): Promise<string> {
    const replied = once(this.#lines, 'line');
    this.#child.stdin.write(`${line}\n`);
    const [reply] = await Promise.race([replied, this.#ended]);
    return reply;
  }

  end(): void {
    this.#child.kill();
  }
}

let suggester: SuggesterProcess | undefined;

export async function suggestion(request: SuggestionRequest): Promise<Suggestion> {
  suggester ??= new SuggesterProcess();
  return JSON.parse(await suggester.send(JSON.stringify(request)));
}

afterAll(() => suggester?.end());

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';

interface Refusals {
  readonly limit: number;
  readonly refusedRequests: number;
  readonly refusedCallers: number;
}

export interface Suggestion {
  readonly forRequests: Refusals;
  readonly forCallers: Refusals;
  readonly forAll: Refusals;
  readonly curve: readonly Refusals[];
}

export interface Question {
  readonly windowMs: number;
  readonly share: number;
  /** The time in microseconds, never decreasing, and which caller. */
  readonly hits: readonly (readonly [micros: number, caller: number])[];
}

/** Answers a line with a line. */
class Answerer {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: Interface;
  readonly #ended: Promise<never>;

  constructor() {
    this.#child = spawn(process.execPath, [join(__dirname, 'suggester.mjs')]);
    this.#lines = createInterface({ input: this.#child.stdout });
    this.#ended = once(this.#child, 'exit').then(() => Promise.reject(new Error('The suggester has ended')));
    this.#ended.catch(() => {}); // Nobody may be asking when it is told to end.
  }

  async ask(line: string): Promise<string> {
    const answered = once(this.#lines, 'line');
    this.#child.stdin.write(`${line}\n`);
    const [answer] = await Promise.race([answered, this.#ended]);
    return answer;
  }

  end(): void {
    this.#child.kill();
  }
}

let answerer: Answerer | undefined;

/** What the built suggester says; one question after the other. */
export async function suggestion(question: Question): Promise<Suggestion> {
  answerer ??= new Answerer();
  return JSON.parse(await answerer.ask(JSON.stringify(question)));
}

afterAll(() => answerer?.end());

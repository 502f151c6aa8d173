import { type ChildProcess, fork } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What each process checks. */
export interface SpendingOptions {
  readonly url: string;
  readonly limit: number;
  readonly windowMs: number;
  readonly leaseMs: number;
  readonly perSecond: number;
}

/** An allowed check. Its decision was made between the two times of the machine's monotonic clock. */
export interface AllowedCheck {
  readonly startMs: number;
  readonly endMs: number;
}

/** Processes that check one key, and the log of what they were allowed. */
export class SpendingProcesses {
  readonly #folder = mkdtempSync(join(tmpdir(), 'rollgate-leases-'));
  readonly #children: ChildProcess[] = [];

  constructor(
    private readonly options: SpendingOptions,
    count: number,
  ) {
    for (let index = 0; index < count; index++) this.start();
  }

  /** Starts one more process. */
  start(): void {
    const file = this.#fileOf(this.#children.length);
    const child = fork(join(__dirname, 'spending-process.mjs'), [JSON.stringify({ ...this.options, file })]);
    this.#children.push(child);
  }

  signal(index: number, signal: NodeJS.Signals): void {
    this.#children[index]!.kill(signal);
  }

  /** All allowed checks so far, by the times of their decisions. Throws when a process has ended without being killed. */
  allowed(): AllowedCheck[] {
    if (this.#children.some(({ exitCode }) => exitCode !== null)) throw new Error('A process ended by an error');
    const checks = this.#children.flatMap((_, index) => this.allowedIn(index));
    return checks.sort((one, other) => one.endMs - other.endMs);
  }

  allowedIn(index: number): AllowedCheck[] {
    const file = this.#fileOf(index);
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
    return lines.map((line) => {
      const [startMs, endMs] = line.split(' ').map(Number) as [number, number];
      return { startMs, endMs };
    });
  }

  stop(): void {
    for (const child of this.#children) child.kill('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #fileOf(index: number): string {
    return join(this.#folder, `${index}.log`);
  }
}

/** Returns the most checks that were certainly in one window, of those that satisfy `includes`. */
export function mostInWindow(checks: readonly AllowedCheck[], windowMs: number): number {
  let most = 0;
  checks.forEach(({ endMs }, index) => {
    let count = 0;
    for (let before = index; before >= 0 && checks[before]!.endMs > endMs - windowMs; before--) {
      if (checks[before]!.startMs > endMs - windowMs) count += 1;
    }
    most = Math.max(most, count);
  });
  return most;
}

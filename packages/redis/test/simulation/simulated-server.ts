import { createHash } from 'node:crypto';
import type { Execution, Message } from './call-records.js';
import type { RealRedis, ScriptResult } from './real-redis.js';
import type { Reference } from './reference.js';
import type { VirtualTime } from './virtual-time.js';

/** The server's clock at the beginning, in microseconds. */
const EPOCH_MICROS = 2_000_000_000_000_000;

/** The options of {@link SimulatedServer}. */
export interface ServerOptions {
  readonly time: VirtualTime;
  readonly redis: RealRedis;
  readonly reference: Reference;
  /** Whether a script runs only a few operations. */
  readonly isSliced: boolean;
}

/** The reply to a message. */
export type Reply =
  | { readonly error: Error; readonly execution: undefined }
  | { readonly value: unknown; readonly execution: Execution };

/** A server with a simulated clock. It runs scripts in order, and it can fail in many ways. */
export class SimulatedServer {
  isUp = true;
  /** All executions that are not lost. */
  executions: Execution[] = [];
  readonly lost: Execution[] = [];
  /** Whether its clock was never set. */
  hasOriginalClock = true;
  /** The number of requests for a script that the server did not have. */
  unknownScriptCount = 0;
  readonly #time: VirtualTime;
  /** The scripts by their SHA: those that this server has now, and all that clients have sent. */
  readonly #knownShas = new Set<string>();
  readonly #texts = new Map<string, string>();
  #clockMicros = EPOCH_MICROS;
  #busyUntilMicros = 0;
  #failsUntilMicros = 0;
  /** The messages that have arrived, in order. */
  #inbox: { readonly message: Message; readonly reply: (reply: Reply) => void }[] = [];
  #isProcessingScheduled = false;

  constructor(private readonly options: ServerOptions) {
    this.#time = options.time;
  }

  /** Replies to the message after the earlier ones. */
  receive(message: Message, reply: (reply: Reply) => void): Promise<void> {
    this.#inbox.push({ message, reply });
    return this.#processInbox();
  }

  /** Pauses for a while. Messages that arrive wait. */
  stall(forMicros: number): void {
    this.#busyUntilMicros = Math.max(this.#busyUntilMicros, this.#time.micros + forMicros);
  }

  /** Replies with an error for a while. */
  fail(forMicros: number): void {
    this.#failsUntilMicros = this.#time.micros + forMicros;
  }

  /** Ends {@link stall} and {@link fail}. */
  endFaults(): void {
    this.#busyUntilMicros = this.#failsUntilMicros = this.#time.micros;
  }

  /** Ends the server and loses the messages that have arrived. */
  crash(): void {
    this.isUp = false;
    this.#inbox = [];
  }

  /** Sets the clock forward or back. */
  setClock(byMicros: number): void {
    this.#clockMicros += byMicros;
    this.hasOriginalClock &&= byMicros === 0;
    this.options.reference.markAllChanged();
  }

  forgetScripts(): void {
    this.#knownShas.clear();
  }

  /** Starts after a crash, without the newest operations and without scripts, with a clock that is set forward or back. */
  async restart(lostCount: number, clockMicros: number): Promise<void> {
    const kept = Math.max(0, this.executions.length - lostCount);
    for (const execution of this.executions.splice(kept)) {
      execution.isLost = true;
      this.lost.push(execution);
    }
    this.setClock(clockMicros);
    this.#knownShas.clear();
    this.endFaults();
    const { redis, reference } = this.options;
    await redis.clear();
    const runs = this.executions.map(({ message: { keys, values, sha }, serverMicros }) =>
      this.#runScript(sha, keys, values, serverMicros),
    );
    await Promise.all(runs);
    reference.restart(this.executions);
    this.isUp = true;
  }

  get serverMicros(): number {
    return this.#clockMicros + this.#time.micros;
  }

  async #processInbox(): Promise<void> {
    while (this.#inbox.length > 0) {
      const { micros } = this.#time;
      if (micros < this.#busyUntilMicros) return this.#processInboxLater();
      const { message, reply } = this.#inbox.shift()!;
      const isFailing = micros < this.#failsUntilMicros;
      reply(isFailing ? failure('LOADING Redis is loading the dataset in memory') : await this.#run(message));
    }
  }

  #processInboxLater(): void {
    if (this.#isProcessingScheduled) return;
    this.#isProcessingScheduled = true;
    this.#time.at(this.#busyUntilMicros, 'socket', () => {
      this.#isProcessingScheduled = false;
      return this.#processInbox();
    });
  }

  async #run(message: Message): Promise<Reply> {
    const { keys, values, calls } = message;
    const sha = message.sha || this.#register(message.text!);
    if (!this.#knownShas.has(sha)) {
      this.unknownScriptCount += 1;
      return failure('NOSCRIPT No matching script. Please use EVAL.');
    }
    const { serverMicros } = this;
    const { value, expired } = await this.#runScript(sha, keys, values, serverMicros);
    const [text] = typeof value === 'string' ? [value] : (value as [string]);
    const doneCount = text.split('\n').length - 1;
    // Each operation has its own microsecond.
    this.#busyUntilMicros = this.#time.micros + calls.length + 1;
    const run = { message: { ...message, sha }, calls: calls.slice(0, doneCount), serverMicros, expired };
    const execution: Execution = { ...run, value, results: [], isLost: false, hasOpenResults: false };
    const { reference } = this.options;
    reference.execute(execution);
    execution.hasOpenResults = reference.openResultReason !== undefined;
    this.executions.push(execution);
    return { value, execution };
  }

  async #runScript(
    sha: string,
    keys: readonly string[],
    values: readonly string[],
    serverMicros: number,
  ): Promise<ScriptResult> {
    const { redis, isSliced } = this.options;
    const real = await redis.load(this.#texts.get(sha)!, isSliced);
    return redis.run(real, keys, values, serverMicros);
  }

  #register(text: string): string {
    const sha = shaOf(text);
    this.#texts.set(sha, text);
    this.#knownShas.add(sha);
    return sha;
  }
}

function failure(message: string): Reply {
  return { error: new Error(message), execution: undefined };
}

const shas = new Map<string, string>();

/** Hashing a script takes longer than running it. */
function shaOf(text: string): string {
  let sha = shas.get(text);
  if (sha === undefined) {
    sha = createHash('sha1').update(text).digest('hex');
    shas.set(text, sha);
  }
  return sha;
}

import { createHash } from 'node:crypto';
import type { Execution, Message } from './call-records.js';
import type { Ran, RealRedis } from './real-redis.js';
import type { Reference } from './reference.js';
import type { VirtualTime } from './virtual-time.js';

/** The server's clock at the beginning, in microseconds. */
const EPOCH_MICROS = 2_000_000_000_000_000;

/** What a server is given. */
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
  /** Everything that ran and was not lost. */
  executions: Execution[] = [];
  readonly lost: Execution[] = [];
  /** Whether its clock was never set. */
  isClockUntouched = true;
  /** How often a client requested a script that the server did not know. */
  unknownCount = 0;
  readonly #options: ServerOptions;
  readonly #time: VirtualTime;
  /** The scripts by their SHA: those that this server knows now, and those that any client ever sent. */
  readonly #known = new Set<string>();
  readonly #texts = new Map<string, string>();
  #clockMicros = EPOCH_MICROS;
  #busyUntilMicros = 0;
  #failsUntilMicros = 0;
  /** What has arrived, in order. */
  #inbox: { readonly message: Message; readonly reply: (reply: Reply) => void }[] = [];
  #isAwaited = false;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#time = options.time;
  }

  /** Replies to the message when it is its turn. */
  receive(message: Message, reply: (reply: Reply) => void): Promise<void> {
    this.#inbox.push({ message, reply });
    return this.#work();
  }

  /** Stops work for a while. What arrives waits. */
  stall(forMicros: number): void {
    this.#busyUntilMicros = Math.max(this.#busyUntilMicros, this.#time.micros + forMicros);
  }

  /** Replies with an error for a while. */
  fail(forMicros: number): void {
    this.#failsUntilMicros = this.#time.micros + forMicros;
  }

  /** Ends {@link stall} and {@link fail}. */
  calm(): void {
    this.#busyUntilMicros = this.#failsUntilMicros = this.#time.micros;
  }

  /** Ends the server and loses what has arrived. */
  crash(): void {
    this.isUp = false;
    this.#inbox = [];
  }

  /** Sets the clock forward or back. */
  setClock(byMicros: number): void {
    this.#clockMicros += byMicros;
    this.isClockUntouched &&= byMicros === 0;
    this.#options.reference.changeAll();
  }

  forgetScripts(): void {
    this.#known.clear();
  }

  /** Starts after a crash, without the newest operations and without scripts, with a clock that is set forward or back. */
  async restart(lostCount: number, clockMicros: number): Promise<void> {
    const kept = Math.max(0, this.executions.length - lostCount);
    for (const execution of this.executions.splice(kept)) {
      execution.isLost = true;
      this.lost.push(execution);
    }
    this.setClock(clockMicros);
    this.#known.clear();
    this.calm();
    const { redis, reference } = this.#options;
    await redis.clear();
    const runs = this.executions.map(({ message: { keys, values, sha }, serverMicros }) =>
      this.#runReal(sha, keys, values, serverMicros),
    );
    await Promise.all(runs);
    reference.restart(this.executions);
    this.isUp = true;
  }

  get serverMicros(): number {
    return this.#clockMicros + this.#time.micros;
  }

  async #work(): Promise<void> {
    while (this.#inbox.length > 0) {
      const { micros } = this.#time;
      if (micros < this.#busyUntilMicros) return this.#workLater();
      const { message, reply } = this.#inbox.shift()!;
      const isFailing = micros < this.#failsUntilMicros;
      reply(isFailing ? failure('LOADING Redis is loading the dataset in memory') : await this.#run(message));
    }
  }

  #workLater(): void {
    if (this.#isAwaited) return;
    this.#isAwaited = true;
    this.#time.at(this.#busyUntilMicros, 'socket', () => {
      this.#isAwaited = false;
      return this.#work();
    });
  }

  async #run(message: Message): Promise<Reply> {
    const { keys, values, calls } = message;
    const sha = message.sha || this.#learn(message.text!);
    if (!this.#known.has(sha)) {
      this.unknownCount += 1;
      return failure('NOSCRIPT No matching script. Please use EVAL.');
    }
    const { serverMicros } = this;
    const { value, expired } = await this.#runReal(sha, keys, values, serverMicros);
    const [text] = typeof value === 'string' ? [value] : (value as [string]);
    const doneCount = text.split('\n').length - 1;
    // Each operation has its own microsecond.
    this.#busyUntilMicros = this.#time.micros + calls.length + 1;
    const run = { message: { ...message, sha }, calls: calls.slice(0, doneCount), serverMicros, expired };
    const execution: Execution = { ...run, value, results: [], isLost: false, isVague: false };
    const { reference } = this.#options;
    reference.execute(execution);
    execution.isVague = reference.isVague !== undefined;
    this.executions.push(execution);
    return { value, execution };
  }

  async #runReal(sha: string, keys: readonly string[], values: readonly string[], serverMicros: number): Promise<Ran> {
    const { redis, isSliced } = this.#options;
    const real = await redis.load(this.#texts.get(sha)!, isSliced);
    return redis.run(real, keys, values, serverMicros);
  }

  #learn(text: string): string {
    const sha = shaOf(text);
    this.#texts.set(sha, text);
    this.#known.add(sha);
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

import type { Message, StoreCall } from './records.js';
import type { ProcessSpec } from './schedule.js';
import { SimulatedConnection } from './simulated-connection.js';
import type { Reply, SimulatedServer } from './simulated-server.js';
import type { Owner, VirtualTime } from './virtual-time.js';

/** What a client is given. */
export interface ClientOptions {
  readonly time: VirtualTime;
  readonly server: SimulatedServer;
  readonly owner: Owner;
  readonly spec: ProcessSpec;
  /** What the network draws next, from 0 to 999. */
  readonly draw: () => number;
  /** The calls of the store that travel with these keys. */
  readonly takeCalls: (keyCount: number) => readonly StoreCall[];
  /** Those that the server left for the next message. */
  readonly returnCalls: (calls: readonly StoreCall[]) => void;
}

const RETRY_MICROS = 50_000;

/** A client that behaves as ioredis when its connection breaks: it connects again, and sends again what it has no reply to. */
export class SimulatedClient {
  readonly status = 'ready';
  readonly options = {};
  slowByMicros = 0;
  readonly #options: ClientOptions;
  #connection: SimulatedConnection;
  /** What is to be sent at the next connection. */
  #waiting: Message[] = [];
  /** Messages to a server that did not know their script, until they are sent again with it. */
  readonly #unknown: Message[] = [];
  #failedAttempts = 0;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#connection = this.#connect();
  }

  evalsha(sha: string, keyCount: number, ...rest: string[]): Promise<unknown> {
    const calls = this.#options.takeCalls(keyCount);
    return this.#send({ sha, text: undefined, keys: rest.slice(0, keyCount), argument: rest[keyCount]!, calls });
  }

  eval(text: string, keyCount: number, ...rest: string[]): Promise<unknown> {
    const [keys, argument] = [rest.slice(0, keyCount), rest[keyCount]!];
    const index = this.#unknown.findIndex((one) => one.argument === argument && one.keys.join() === keys.join());
    const [{ calls }] = this.#unknown.splice(index, 1) as [Message];
    return this.#send({ sha: '', text, keys, argument, calls });
  }

  /** The connection breaks; the first messages that are under way arrive all the same. */
  cut(arrivingCount: number, reconnectMicros: number): void {
    if (!this.#connection.isOpen) return;
    const unanswered = this.#connection.close(arrivingCount);
    const { time, owner, spec } = this.#options;
    if (spec.resends) this.#waiting = unanswered;
    else for (const { reject } of unanswered) reject(new Error('Connection is closed.'));
    this.#failedAttempts = 0;
    time.at(time.micros + reconnectMicros, 'socket', () => this.#reconnect(), owner);
  }

  /** The connection breaks when the next reply is under way. */
  stealReply(reconnectMicros: number): void {
    const connection = this.#connection;
    const { time, owner } = this.#options;
    connection.onReply ??= () => {
      connection.isSilent = true;
      const notice = () => connection === this.#connection && this.cut(0, reconnectMicros);
      time.at(time.micros + 100, 'socket', notice, owner);
    };
  }

  /** Nothing passes the connection, until the client breaks it. */
  silence(forMicros: number, reconnectMicros: number): void {
    const connection = this.#connection;
    connection.isSilent = true;
    const { time, owner } = this.#options;
    const notice = () => connection === this.#connection && this.cut(0, reconnectMicros);
    time.at(time.micros + forMicros, 'socket', notice, owner);
  }

  /** Nothing goes wrong from now on; it notices when nothing passes. */
  calm(): void {
    this.slowByMicros = 0;
    this.#connection.onReply = undefined;
    if (this.#connection.isSilent) this.cut(0, 1000);
  }

  #send(what: Omit<Message, 'resolve' | 'reject'>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const message = { ...what, resolve, reject };
      if (this.#connection.isOpen) this.#connection.send(message);
      else if (this.#options.spec.queuesOffline) this.#waiting.push(message);
      else reject(new Error("Stream isn't writeable and enableOfflineQueue options is false"));
    });
  }

  #connect(): SimulatedConnection {
    const { time, server, owner, draw } = this.#options;
    const latency = () => this.slowByMicros + toMicros(draw());
    return new SimulatedConnection({ time, server, owner, latency, answer: (...given) => this.#answer(...given) });
  }

  #reconnect(): void {
    const { time, server, owner, spec } = this.#options;
    if (!server.isUp) {
      this.#failedAttempts += 1;
      if (this.#failedAttempts % spec.retries === 0) {
        const error = () => new Error(`Reached the max retries per request limit (which is ${spec.retries}).`);
        for (const { reject } of this.#waiting.splice(0)) reject(error());
      }
      time.at(time.micros + RETRY_MICROS, 'socket', () => this.#reconnect(), owner);
      return;
    }
    this.#connection = this.#connect();
    for (const message of this.#waiting.splice(0)) this.#connection.send(message);
  }

  #answer(message: Message, reply: Reply): void {
    if (reply.execution !== undefined) {
      const { calls } = reply.execution;
      for (const call of calls) call.execution = reply.execution;
      this.#options.returnCalls(message.calls.slice(calls.length));
      message.resolve(reply.value);
    } else {
      if (reply.error.message.startsWith('NOSCRIPT')) this.#unknown.push(message);
      message.reject(reply.error);
    }
  }
}

/** Mostly less than a millisecond, now and then up to 200. */
function toMicros(draw: number): number {
  return 100 + (draw < 900 ? draw : (draw - 900) * 2000);
}

import type { Message, StoreCall } from './call-records.js';
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
  /** Returns the calls of the store that the next message with so many keys contains. */
  readonly takeCalls: (keyCount: number) => readonly StoreCall[];
  /** Takes back the calls that the server left for the next message. */
  readonly returnCalls: (calls: readonly StoreCall[]) => void;
}

const RETRY_MICROS = 50_000;

/** A client that behaves as ioredis when its connection breaks. It reconnects, and resends what has no reply. */
export class SimulatedClient {
  readonly status = 'ready';
  readonly options: { readonly autoResendUnfulfilledCommands: boolean };
  slowByMicros = 0;
  readonly #options: ClientOptions;
  #connection: SimulatedConnection;
  /** Messages for the next connection. */
  #waiting: Message[] = [];
  /** Messages to a server that did not know their script, until they are resent with it. */
  readonly #unknown: Message[] = [];
  #failedAttempts = 0;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.options = { autoResendUnfulfilledCommands: options.spec.resends };
    this.#connection = this.#connect();
  }

  evalsha(sha: string, keyCount: number, ...rest: string[]): Promise<unknown> {
    const calls = this.#options.takeCalls(keyCount);
    return this.#send({ sha, text: undefined, keys: rest.slice(0, keyCount), values: rest.slice(keyCount), calls });
  }

  eval(text: string, keyCount: number, ...rest: string[]): Promise<unknown> {
    const [keys, values] = [rest.slice(0, keyCount), rest.slice(keyCount)];
    const index = this.#unknown.findIndex(
      (one) => one.values.join() === values.join() && one.keys.join() === keys.join(),
    );
    const [{ calls }] = this.#unknown.splice(index, 1) as [Message];
    return this.#send({ sha: '', text, keys, values, calls });
  }

  /** Breaks the connection. The first `arrivingCount` messages under way still arrive. */
  cut(arrivingCount: number, reconnectMicros: number): void {
    if (!this.#connection.isOpen) return;
    const pending = this.#connection.close(arrivingCount);
    const { time, owner, spec } = this.#options;
    if (spec.resends) this.#waiting = pending;
    else for (const { reject } of pending) reject(new Error('Connection is closed.'));
    this.#failedAttempts = 0;
    time.at(time.micros + reconnectMicros, 'socket', () => this.#reconnect(), owner);
  }

  /** Breaks the connection while the next reply is under way. */
  loseReply(reconnectMicros: number): void {
    const connection = this.#connection;
    const { time, owner } = this.#options;
    connection.interceptReply ??= () => {
      connection.isSilent = true;
      const notice = () => connection === this.#connection && this.cut(0, reconnectMicros);
      time.at(time.micros + 100, 'socket', notice, owner);
    };
  }

  /** Lets nothing pass the connection until the client breaks it. */
  silence(forMicros: number, reconnectMicros: number): void {
    const connection = this.#connection;
    connection.isSilent = true;
    const { time, owner } = this.#options;
    const notice = () => connection === this.#connection && this.cut(0, reconnectMicros);
    time.at(time.micros + forMicros, 'socket', notice, owner);
  }

  /** Ends all faults. The client then notices a connection that nothing passes. */
  calm(): void {
    this.slowByMicros = 0;
    this.#connection.interceptReply = undefined;
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
    return new SimulatedConnection({ time, server, owner, latency, onReply: (...args) => this.#onReply(...args) });
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

  #onReply(message: Message, reply: Reply): void {
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

/** Mostly less than a millisecond, sometimes up to 200. */
function toMicros(draw: number): number {
  return 100 + (draw < 900 ? draw : (draw - 900) * 2000);
}

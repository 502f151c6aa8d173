import type { Message, StoreCall } from './call-records.js';
import type { ProcessSpec } from './schedules.js';
import { SimulatedConnection } from './simulated-connection.js';
import type { Reply, SimulatedServer } from './simulated-server.js';
import type { Owner, VirtualTime } from './virtual-time.js';

/** The options of {@link SimulatedClient}. */
export interface ClientOptions {
  readonly time: VirtualTime;
  readonly server: SimulatedServer;
  readonly owner: Owner;
  readonly spec: ProcessSpec;
  /** Returns the next random number of the network, from 0 to 999. */
  readonly draw: () => number;
  /** Returns the calls of the store in the next message, which has this many keys. */
  readonly takeCalls: (keyCount: number) => readonly StoreCall[];
  /** Takes back the calls that the server left for the next message. */
  readonly returnCalls: (calls: readonly StoreCall[]) => void;
}

const RETRY_MICROS = 50_000;

/** A client that behaves as ioredis when its connection breaks. It reconnects, and resends what has no reply. */
export class SimulatedClient {
  readonly status = 'ready';
  readonly options: { readonly autoResendUnfulfilledCommands: boolean };
  extraLatencyMicros = 0;
  readonly #options: ClientOptions;
  #connection: SimulatedConnection;
  /** Messages for the next connection. */
  #queued: Message[] = [];
  /** Messages to a server without their script, until the client resends them with it. */
  readonly #withoutScript: Message[] = [];
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
    const index = this.#withoutScript.findIndex(
      (one) => one.values.join() === values.join() && one.keys.join() === keys.join(),
    );
    const [{ calls }] = this.#withoutScript.splice(index, 1) as [Message];
    return this.#send({ sha: '', text, keys, values, calls });
  }

  /** Breaks the connection. The first `arrivingCount` messages in flight still arrive. */
  cut(arrivingCount: number, reconnectMicros: number): void {
    if (!this.#connection.isOpen) return;
    const pending = this.#connection.close(arrivingCount);
    const { time, owner, spec } = this.#options;
    if (spec.resends) this.#queued = pending;
    else for (const { reject } of pending) reject(new Error('Connection is closed.'));
    this.#failedAttempts = 0;
    time.at(time.micros + reconnectMicros, 'socket', () => this.#reconnect(), owner);
  }

  /** Breaks the connection while the next reply is in flight. */
  loseReply(reconnectMicros: number): void {
    const connection = this.#connection;
    const { time, owner } = this.#options;
    connection.interceptReply ??= () => {
      connection.isSilent = true;
      const detect = () => connection === this.#connection && this.cut(0, reconnectMicros);
      time.at(time.micros + 100, 'socket', detect, owner);
    };
  }

  /** Drops everything on the connection until the client breaks it. */
  silence(forMicros: number, reconnectMicros: number): void {
    const connection = this.#connection;
    connection.isSilent = true;
    const { time, owner } = this.#options;
    const detect = () => connection === this.#connection && this.cut(0, reconnectMicros);
    time.at(time.micros + forMicros, 'socket', detect, owner);
  }

  /** Ends all faults. The client then breaks a silent connection. */
  endFaults(): void {
    this.extraLatencyMicros = 0;
    this.#connection.interceptReply = undefined;
    if (this.#connection.isSilent) this.cut(0, 1000);
  }

  #send(fields: Omit<Message, 'resolve' | 'reject'>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const message = { ...fields, resolve, reject };
      if (this.#connection.isOpen) this.#connection.send(message);
      else if (this.#options.spec.queuesOffline) this.#queued.push(message);
      else reject(new Error("Stream isn't writeable and enableOfflineQueue options is false"));
    });
  }

  #connect(): SimulatedConnection {
    const { time, server, owner, draw } = this.#options;
    const latency = () => this.extraLatencyMicros + toMicros(draw());
    return new SimulatedConnection({ time, server, owner, latency, onReply: (...args) => this.#onReply(...args) });
  }

  #reconnect(): void {
    const { time, server, owner, spec } = this.#options;
    if (!server.isUp) {
      this.#failedAttempts += 1;
      if (this.#failedAttempts % spec.retries === 0) {
        const error = () => new Error(`Reached the max retries per request limit (which is ${spec.retries}).`);
        for (const { reject } of this.#queued.splice(0)) reject(error());
      }
      time.at(time.micros + RETRY_MICROS, 'socket', () => this.#reconnect(), owner);
      return;
    }
    this.#connection = this.#connect();
    for (const message of this.#queued.splice(0)) this.#connection.send(message);
  }

  #onReply(message: Message, reply: Reply): void {
    if (reply.execution !== undefined) {
      const { calls } = reply.execution;
      for (const call of calls) call.execution = reply.execution;
      this.#options.returnCalls(message.calls.slice(calls.length));
      message.resolve(reply.value);
    } else {
      if (reply.error.message.startsWith('NOSCRIPT')) this.#withoutScript.push(message);
      message.reject(reply.error);
    }
  }
}

/** Mostly less than a millisecond, sometimes up to 200. */
function toMicros(draw: number): number {
  return 100 + (draw < 900 ? draw : (draw - 900) * 2000);
}

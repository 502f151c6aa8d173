import { until } from '@rollgate/test-support';
import { Redis } from 'ioredis';
import { newestTimeOf } from './packed-log.js';

/** A key that a script looked at, and with which time it then recorded something there, if it did. */
export interface Look {
  readonly key: string;
  recordedMicros?: number;
}

/** One script as the server ran it. */
export interface RanScript {
  /** The server's clock when it was asked for it, in microseconds: a few before the script's own. */
  readonly askedMicros: number;
  /** In their order: for each check one for each of its limits. */
  readonly looks: Look[];
}

/**
 * Records all scripts that a server runs, in order. The command MONITOR reports each of their commands.
 */
export class ScriptRecord {
  readonly scripts: RanScript[] = [];
  /** How often the scripts looked at each key. */
  readonly lookCounts = new Map<string, number>();
  readonly #client: Redis;
  readonly #monitor: Redis;
  /** Asked for, but perhaps not known to the server. */
  #asked: RanScript | undefined;
  #running: RanScript | undefined;
  #lastEcho = '';

  private constructor(client: Redis, monitor: Redis) {
    this.#client = client;
    this.#monitor = monitor;
    monitor.on('monitor', (time: string, [command, ...args]: string[], source: string) => {
      if (source === 'lua') this.#read(command!.toUpperCase(), args);
      else this.#begin(command!.toUpperCase(), args, Math.round(Number(time) * 1e6));
    });
  }

  static async start(url: string): Promise<ScriptRecord> {
    const client = new Redis(url);
    return new ScriptRecord(client, await client.monitor());
  }

  /** Resolves when all that was done before is in the record. */
  async complete(): Promise<void> {
    const last = `${Math.random()}`;
    await this.#client.echo(last);
    await until('the record is complete', async () => this.#lastEcho === last);
  }

  stop(): void {
    this.#monitor.disconnect();
    this.#client.disconnect();
  }

  #begin(command: string, [first]: string[], askedMicros: number): void {
    this.#asked = this.#running = undefined;
    if (command === 'ECHO') this.#lastEcho = first!;
    if (command !== 'EVALSHA' && command !== 'EVAL') return;
    this.#asked = { askedMicros, looks: [] };
  }

  #read(command: string, args: string[]): void {
    const [key, first] = args;
    if (this.#asked !== undefined) {
      this.#running = this.#asked;
      this.#asked = undefined;
      this.scripts.push(this.#running);
    }
    const { looks } = this.#running!;
    if (command === 'ZCARD' || (command === 'GETRANGE' && first === '-160')) {
      looks.push({ key: key! });
      this.lookCounts.set(key!, (this.lookCounts.get(key!) ?? 0) + 1);
    }
    const recordedMicros = recordedTime(command, args);
    if (recordedMicros !== undefined) looks.findLast((look) => look.key === key)!.recordedMicros = recordedMicros;
  }
}

/** A sorted set gets a score in front of a member, and a packed log bytes. */
function recordedTime(command: string, [, ...args]: string[]): number | undefined {
  if (command === 'ZADD') return Number.parseInt(args[0]!, 10);
  if (command === 'SET') return newestTimeOf(toBytes(args[0]!));
  return command === 'SETRANGE' ? newestTimeOf(toBytes(args[1]!)) : undefined;
}

const ESCAPES: Record<string, string> = { n: '\n', r: '\r', t: '\t', a: '\x07', b: '\b' };

/** The bytes that MONITOR shows in this form. The client has already replaced each `\"`. */
function toBytes(shown: string): Buffer {
  const text = shown.replace(/\\(?:x([0-9a-f]{2})|(.))/g, (_, hex?: string, char?: string) => {
    return hex === undefined ? (ESCAPES[char!] ?? char!) : String.fromCharCode(Number.parseInt(hex, 16));
  });
  return Buffer.from(text, 'latin1');
}

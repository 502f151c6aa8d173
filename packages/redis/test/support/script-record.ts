import { until } from '@rollgate/test-support';
import { Redis } from 'ioredis';
import { newestTimeOf } from './packed-log.js';

/** A key that a script read, and the time that it recorded there, if any. */
export interface Look {
  readonly key: string;
  recordedMicros?: number;
}

/** A script that the server ran. */
export interface RanScript {
  /** When the request arrived, by the server's clock in microseconds. The script's time is slightly later. */
  readonly requestedMicros: number;
  /** The keys in order, one for each limit of each check. */
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
  /** Requested, but perhaps unknown to the server. */
  #requested: RanScript | undefined;
  #running: RanScript | undefined;
  #lastEcho = '';
  readonly #usualLooks = new WeakSet<Look>();

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

  /** Resolves when the record contains everything done so far. */
  async complete(): Promise<void> {
    const last = `${Math.random()}`;
    await this.#client.echo(last);
    await until('the record is complete', async () => this.#lastEcho === last);
  }

  stop(): void {
    this.#monitor.disconnect();
    this.#client.disconnect();
  }

  #begin(command: string, [first]: string[], requestedMicros: number): void {
    this.#requested = this.#running = undefined;
    if (command === 'ECHO') this.#lastEcho = first!;
    if (command !== 'EVALSHA' && command !== 'EVAL') return;
    this.#requested = { requestedMicros, looks: [] };
  }

  #read(command: string, args: string[]): void {
    const [key, first] = args;
    if (this.#requested !== undefined) {
      this.#running = this.#requested;
      this.#requested = undefined;
      this.scripts.push(this.#running);
    }
    const { looks } = this.#running!;
    const isUsual = command === 'GETRANGE' && USUAL_READS.includes(first!);
    const isGeneral = command === 'GETRANGE' && first === GENERAL_READ;
    if (isGeneral) this.#dropUsualLooks(key!);
    if (command === 'ZCARD' || isUsual || isGeneral) {
      const look = { key: key! };
      if (isUsual) this.#usualLooks.add(look);
      looks.push(look);
      this.lookCounts.set(key!, (this.lookCounts.get(key!) ?? 0) + 1);
    }
    const recordedMicros = recordedTime(command, args);
    if (recordedMicros !== undefined) looks.findLast((look) => look.key === key)!.recordedMicros = recordedMicros;
  }

  /** Drops the looks of a usual check that left its decision to the general one, which begins with this key. */
  #dropUsualLooks(key: string): void {
    const { looks } = this.#running!;
    const index = looks.findLastIndex((look) => look.key === key);
    const look = looks[index];
    if (look !== undefined && this.#usualLooks.has(look) && look.recordedMicros === undefined) looks.length = index;
  }
}

/** How many bytes a check reads. The usual check and the general one read different numbers of them. */
const USUAL_READS = ['-144', '-269'];
const GENERAL_READ = '-160';

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

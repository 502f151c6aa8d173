import { until } from '@rollgate/test-support';
import { Redis } from 'ioredis';
import { type MonitoredCommand, monitor } from './monitor.js';
import { newestTimeOf } from './packed-log.js';

/** A key that a script read, and the time that it recorded there, if any. */
export interface KeyRead {
  readonly key: string;
  recordedMicros?: number;
}

/** A script that the server ran. */
export interface ScriptRun {
  /** When the request arrived, by the server's clock in microseconds. The script's time is slightly later. */
  readonly requestedMicros: number;
  /** The keys in order, one for each limit of each check. */
  readonly keyReads: KeyRead[];
}

/**
 * Records all scripts that a server runs, in order. The command MONITOR reports each of their commands.
 */
export class ScriptRecord {
  readonly scripts: ScriptRun[] = [];
  /** The number of times that the scripts read each key. */
  readonly readCounts = new Map<string, number>();
  readonly #client: Redis;
  #stopMonitor = () => {};
  /** A requested script that the server may not have. */
  #requested: ScriptRun | undefined;
  #running: ScriptRun | undefined;
  #lastEcho = '';
  readonly #plainWindowReads = new WeakSet<KeyRead>();

  private constructor(client: Redis) {
    this.#client = client;
  }

  static async start(url: string): Promise<ScriptRecord> {
    const record = new ScriptRecord(new Redis(url));
    record.#stopMonitor = await monitor(url, (command) => record.#add(command));
    return record;
  }

  /** Resolves when the record contains everything done so far. */
  async complete(): Promise<void> {
    const last = `${Math.random()}`;
    await this.#client.echo(last);
    await until('the record is complete', async () => this.#lastEcho === last);
  }

  stop(): void {
    this.#stopMonitor();
    this.#client.disconnect();
  }

  #add({ command, args, timeMicros, isInScript }: MonitoredCommand): void {
    if (isInScript) this.#read(command.toUpperCase(), args);
    else this.#begin(command.toUpperCase(), args, timeMicros);
  }

  #begin(command: string, [first]: readonly string[], requestedMicros: number): void {
    this.#requested = this.#running = undefined;
    if (command === 'ECHO') this.#lastEcho = first!;
    if (command !== 'EVALSHA' && command !== 'EVAL') return;
    this.#requested = { requestedMicros, keyReads: [] };
  }

  #read(command: string, args: readonly string[]): void {
    const [key, first] = args;
    if (this.#requested !== undefined) {
      this.#running = this.#requested;
      this.#requested = undefined;
      this.scripts.push(this.#running);
    }
    const { keyReads } = this.#running!;
    const isPlainWindowCheck = command === 'GETRANGE' && PLAIN_WINDOW_READS.includes(first!);
    const isGeneral = command === 'GETRANGE' && first === GENERAL_READ;
    if (isGeneral) this.#dropPlainWindowReads(key!);
    if (command === 'ZCARD' || isPlainWindowCheck || isGeneral) {
      const keyRead = { key: key! };
      if (isPlainWindowCheck) this.#plainWindowReads.add(keyRead);
      keyReads.push(keyRead);
      this.readCounts.set(key!, (this.readCounts.get(key!) ?? 0) + 1);
    }
    const recordedMicros = recordedTime(command, args);
    if (recordedMicros !== undefined)
      keyReads.findLast((keyRead) => keyRead.key === key)!.recordedMicros = recordedMicros;
  }

  /** Drops the reads of a plain window check that left its decision to the general check, which begins with this key. */
  #dropPlainWindowReads(key: string): void {
    const { keyReads } = this.#running!;
    const index = keyReads.findLastIndex((keyRead) => keyRead.key === key);
    const keyRead = keyReads[index];
    if (keyRead !== undefined && this.#plainWindowReads.has(keyRead) && keyRead.recordedMicros === undefined)
      keyReads.length = index;
  }
}

/** The ranges that a plain window check reads first, and the one that the general check reads first. */
const PLAIN_WINDOW_READS = ['-144', '-269'];
const GENERAL_READ = '-160';

/** Returns the time that a command records. A sorted set gets a score and a member, a packed log gets bytes. */
function recordedTime(command: string, [, ...args]: readonly string[]): number | undefined {
  if (command === 'ZADD') return Number.parseInt(args[0]!, 10);
  if (command === 'SET') return newestTimeOf(toBytes(args[0]!));
  return command === 'SETRANGE' ? newestTimeOf(toBytes(args[1]!)) : undefined;
}

const ESCAPES: Record<string, string> = { n: '\n', r: '\r', t: '\t', a: '\x07', b: '\b' };

/** The bytes that the server shows in this form. */
function toBytes(shown: string): Buffer {
  const text = shown.replace(/\\(?:x([0-9a-f]{2})|(.))/g, (_, hex?: string, char?: string) => {
    return hex === undefined ? (ESCAPES[char!] ?? char!) : String.fromCharCode(Number.parseInt(hex, 16));
  });
  return Buffer.from(text, 'latin1');
}

import { until } from '@rollgate/test-support';
import { Redis } from 'ioredis';

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

  #read(command: string, [key, first]: string[]): void {
    if (this.#asked !== undefined) {
      this.#running = this.#asked;
      this.#asked = undefined;
      this.scripts.push(this.#running);
    }
    const { looks } = this.#running!;
    // A list gets times, some with more behind; a sorted set gets a score in front of a member.
    if (command === 'LLEN' || command === 'ZCARD') {
      looks.push({ key: key! });
      this.lookCounts.set(key!, (this.lookCounts.get(key!) ?? 0) + 1);
    }
    if (command === 'RPUSH' || command === 'ZADD') {
      looks.findLast((look) => look.key === key)!.recordedMicros = Number.parseInt(first!, 10);
    }
  }
}

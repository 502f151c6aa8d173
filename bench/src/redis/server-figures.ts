import type { RedisServer } from '@rollgate/test-support';

/** The processor time of the server's process so far, in microseconds. */
export async function readCpuMicros(server: RedisServer): Promise<number> {
  const text = String(await server.run('INFO', 'cpu'));
  const seconds = [...text.matchAll(/^used_cpu_(?:sys|user):([\d.]+)/gm)].map(([, value]) => Number(value));
  if (seconds.length !== 2) throw new Error(`Expected two figures in INFO cpu, got ${text}`);
  return (seconds[0]! + seconds[1]!) * 1e6;
}

/** What the server did since the last reset of its statistics. */
export interface ServerFigures {
  /** The number of commands from clients. */
  readonly commands: number;
  /** The processor time within commands, without reading, parsing and replying. */
  readonly micros: number;
}

interface CommandFigures {
  readonly name: string;
  readonly calls: number;
  readonly micros: number;
}

/** Redis counts the commands inside of these too, so their time appears twice. */
const SCRIPTS = ['evalsha', 'eval'];
const TRANSACTIONS = ['exec', 'multi'];
/** The commands that the benchmark sends between two measurements. */
const OWN = ['config|resetstat', 'info', 'flushall'];

export async function resetFigures(server: RedisServer): Promise<void> {
  await server.run('CONFIG', 'RESETSTAT');
}

export async function readFigures(server: RedisServer): Promise<ServerFigures> {
  const text = String(await server.run('INFO', 'commandstats'));
  const all = parse(text).filter(({ name }) => !OWN.includes(name));
  const scripts = all.filter(({ name }) => SCRIPTS.includes(name));
  const transactions = all.filter(({ name }) => TRANSACTIONS.includes(name));
  return {
    commands: sum(scripts.length > 0 ? scripts : all, 'calls'),
    micros: sum([scripts, transactions].find((some) => some.length > 0) ?? all, 'micros'),
  };
}

/** Parses lines such as `cmdstat_evalsha:calls=3,usec=57,usec_per_call=19.00,rejected_calls=0,failed_calls=0`. */
function parse(text: string): CommandFigures[] {
  return [...text.matchAll(/^cmdstat_(.+?):calls=(\d+),usec=(\d+)/gm)].map(([, name, calls, micros]) => ({
    name: name!,
    calls: Number(calls),
    micros: Number(micros),
  }));
}

function sum(commands: readonly CommandFigures[], what: 'calls' | 'micros'): number {
  return commands.reduce((total, command) => total + command[what], 0);
}

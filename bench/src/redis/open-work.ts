import type { RedisServer } from '@rollgate/test-support';
import type { Effort } from '../effort.js';
import { median } from '../statistics.js';
import { Worker } from '../worker.js';
import { CLIENT_CORE } from './check-workers.js';
import type { OpenWorkLoad, OpenWorkResult, OpenWorkTask } from './open-work-worker.js';
import { readCpuMicros } from './server-figures.js';
import { ROLLGATES } from './subjects.js';

type RollgateName = (typeof ROLLGATES)[number];

const LOGS: Record<RollgateName, readonly string[]> = { rollgate: [], 'rollgate, sorted-set': ['sorted-set'] };

/** The newer checks of a key when a decision is settled. */
export const NEWER_CHECKS = [0, 9, 39] as const;
export const SLOTS = 10_000;
/** A fifth of a lease of 30 s, so that renewals come five times as often. */
const LEASE_MS = 6_000;
const HOLD_SECONDS = 12;

/** Processor time in microseconds. */
interface Cpu {
  readonly server: number;
  readonly client: number;
}

/** What open work costs with one log. */
export interface OpenWork {
  /** The cost of settlements relative to that of their checks, for each number of newer checks. */
  readonly settlements: readonly Cpu[];
  /** Per check of a slot with its release. */
  readonly slot: Cpu;
  /** Percent of a core, for all slots with a lease of 30 s. */
  readonly renewal: Cpu;
  readonly bytesPerSlot: number;
}

export async function measureOpenWork(
  server: RedisServer,
  effort: Effort['openWork'],
): Promise<Record<RollgateName, OpenWork>> {
  const measured: Partial<Record<RollgateName, OpenWork>> = {};
  for (const name of ROLLGATES) {
    const options = { args: [server.url, ...LOGS[name]], core: CLIENT_CORE };
    await using worker = await Worker.start<OpenWorkTask, OpenWorkResult>('redis/open-work-worker.ts', options);
    measured[name] = await measureLog(server, worker, effort);
  }
  return measured as Record<RollgateName, OpenWork>;
}

type OpenWorker = Worker<OpenWorkTask, OpenWorkResult>;

async function measureLog(server: RedisServer, worker: OpenWorker, effort: Effort['openWork']): Promise<OpenWork> {
  const load = { checks: effort.checks, keyCount: 100, inFlight: 64 };
  const settlements: Cpu[] = [];
  for (const newer of NEWER_CHECKS)
    settlements.push(await compare(server, worker, withOpen(load, newer), effort.rounds));
  const slots: Cpu[] = [];
  for (let round = 0; round <= effort.rounds; round++) {
    const cpu = await measureTask(server, worker, { kind: 'slots', ...load });
    if (round > 0) slots.push(cpu); // The first round includes compilation.
  }
  const idle = await measureTask(server, worker, { kind: 'hold', seconds: HOLD_SECONDS });
  await worker.run({ kind: 'take', slots: SLOTS, leaseMs: LEASE_MS });
  const [key] = (await server.run('KEYS', '*')) as string[];
  const bytes = Number(await server.run('MEMORY', 'USAGE', key!, 'SAMPLES', '0'));
  const holding = await measureTask(server, worker, { kind: 'hold', seconds: HOLD_SECONDS }, { keepsState: true });
  const percent = (of: keyof Cpu) => ((holding[of] - idle[of]) / HOLD_SECONDS / 10_000) * (LEASE_MS / 30_000);
  return {
    settlements,
    slot: {
      server: median(slots.map((cpu) => cpu.server)) / effort.checks,
      client: median(slots.map((cpu) => cpu.client)) / effort.checks,
    },
    renewal: { server: percent('server'), client: percent('client') },
    bytesPerSlot: bytes / SLOTS,
  };
}

/** The same number of settlements, each after `newer` more checks of its key. */
function withOpen(load: OpenWorkLoad, newer: number): OpenWorkLoad & { readonly newer: number } {
  return { ...load, checks: load.checks + newer * load.keyCount, newer };
}

/** Measures settlements relative to their checks, in turns with checks alone. */
async function compare(
  server: RedisServer,
  worker: OpenWorker,
  load: OpenWorkLoad & { readonly newer: number },
  rounds: number,
): Promise<Cpu> {
  const ratios: Cpu[] = [];
  const settlements = load.checks - load.newer * load.keyCount; // The newest checks stay open.
  for (let round = 0; round <= rounds; round++) {
    const check = await measureTask(server, worker, { kind: 'check', ...load });
    const both = await measureTask(server, worker, { kind: 'settle', ...load });
    const ratio = (of: keyof Cpu) => ((both[of] / check[of] - 1) * load.checks) / settlements;
    if (round > 0) ratios.push({ server: ratio('server'), client: ratio('client') });
  }
  return { server: median(ratios.map((cpu) => cpu.server)), client: median(ratios.map((cpu) => cpu.client)) };
}

async function measureTask(
  server: RedisServer,
  worker: OpenWorker,
  task: OpenWorkTask,
  { keepsState = false } = {},
): Promise<Cpu> {
  if (!keepsState) await server.run('FLUSHALL');
  const before = await readCpuMicros(server);
  const client = await worker.run(task);
  return { server: (await readCpuMicros(server)) - before, client };
}

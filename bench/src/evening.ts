import { setTimeout as delay } from 'node:timers/promises';
import { RedisServer } from '@rollgate/test-support';
import type { Effort } from './effort.js';
import type { EveningResult, EveningTask } from './evening-worker.js';
import { readCpuMicros } from './redis/server-figures.js';
import { runCommand } from './run-command.js';
import { median } from './statistics.js';
import { type Report, tenths, toFigure, whole } from './table.js';
import { Worker } from './worker.js';

const HEADERS = {
  seconds: 'seconds',
  cpu: 'CPU of the process, s',
  server: 'CPU of Redis, s',
  memory: 'peak memory, MB',
  checks: 'checks/s',
  median: 'median check, ms',
  slow: 'p99 of checks, ms',
};
type Column = keyof typeof HEADERS;

const PROCESSES = 3;
/** Checks per second of each process. */
const RATE = 1000;
/** How long the load lasts without `top`. */
const ALONE_MS = 5000;

type Processes = readonly Worker<EveningTask, EveningResult>[];
type Figures = Readonly<Partial<Record<Column, number>>>;

/** Measures what an operator's `top` takes in a large system, and what its checks notice of it. */
export async function measureEvening({ rounds, keys }: Effort['evening']): Promise<Report<Column>> {
  const server = await RedisServer.start();
  const processes = await Promise.all(
    Array.from({ length: PROCESSES }, () =>
      Worker.start<EveningTask, EveningResult>('evening-worker.ts', { args: [server.url], timeoutMs: 600_000 }),
    ),
  );
  try {
    const share = Math.ceil(keys / PROCESSES);
    await Promise.all(
      processes.map((one, index) =>
        one.run({ kind: 'fill', from: index * share, to: Math.min(keys, (index + 1) * share) }),
      ),
    );
    const measured = { load: [] as Figures[], top: [] as Figures[], both: [] as Figures[] };
    for (let round = 0; round < rounds; round++) {
      measured.load.push(await underLoad(server, processes, keys, () => delay(ALONE_MS, {})));
      measured.top.push(await measureServer(server, () => runTop(server)));
      measured.both.push(await underLoad(server, processes, keys, () => runTop(server)));
    }
    return {
      headers: HEADERS,
      rows: [
        toRow('the load alone', measured.load),
        toRow('`top` alone', measured.top),
        toRow('`top` beside the load', measured.both),
      ],
      method: [
        `- **Keys**: ${whole(keys)} of one limit of 100 a day, in a private Redis. One of them is an abuser, whom the command has to list first.`,
        `- **Load**: ${PROCESSES} processes check ${whole(RATE)} random keys a second each, and the abuser all the time.`,
        `- **Figures**: medians of ${rounds} rounds. Memory is the resident memory of the process, of which Node itself takes about 40 MB.`,
      ],
    };
  } finally {
    await Promise.all(processes.map((one) => one.stop()));
    await server.stop();
  }
}

async function runTop(server: RedisServer): Promise<Figures> {
  const { output, seconds, cpuSeconds, peakMb } = await runCommand(['top', server.url, '--json']);
  const [first] = JSON.parse(output).top;
  if (first.key !== 'abuser') throw new Error(`Expected the abuser to be the first key, got ${first.key}`);
  return { seconds, cpu: cpuSeconds, memory: peakMb };
}

async function underLoad(
  server: RedisServer,
  processes: Processes,
  users: number,
  meanwhile: () => Promise<Figures>,
): Promise<Figures> {
  return measureServer(server, async () => {
    const start = performance.now();
    await Promise.all(processes.map((one) => one.run({ kind: 'load', users, perSecond: RATE })));
    const figures = await meanwhile();
    const results = await Promise.all(processes.map((one) => one.run({ kind: 'stop' })));
    const checks = results.reduce((sum, one) => sum + one.checks, 0) / ((performance.now() - start) / 1000);
    const of = (figure: keyof EveningResult) => median(results.map((one) => one[figure]));
    return { ...figures, checks, median: of('medianMs'), slow: of('slowMs') };
  });
}

async function measureServer(server: RedisServer, measure: () => Promise<Figures>): Promise<Figures> {
  const before = await readCpuMicros(server);
  const start = performance.now();
  const figures = await measure();
  const seconds = (performance.now() - start) / 1000;
  return { seconds, ...figures, server: ((await readCpuMicros(server)) - before) / 1e6 };
}

function toRow(what: string, rounds: readonly Figures[]) {
  const columns = (Object.keys(HEADERS) as Column[]).filter((column) => rounds[0]![column] !== undefined);
  const cells = columns.map((column) => {
    return [column, toFigure(median(rounds.map((one) => one[column]!)), tenths)];
  });
  return { what, cells: Object.fromEntries(cells) };
}

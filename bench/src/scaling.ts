import type { Effort } from './effort.js';
import type { ScalingTask } from './scaling-worker.js';
import { median } from './statistics.js';
import { type Row, whole } from './table.js';
import { Worker } from './worker.js';

const LIMITS = [10, 100, 1_000, 10_000, 100_000];

/** Measures Rollgate's checks for growing limits and numbers of keys. */
export async function measureScaling(effort: Effort['scaling']): Promise<Row[]> {
  const rows: Row[] = [];
  for (const limit of LIMITS) {
    const full = { limit, keyCount: 10, hitsPerWindow: limit, checks: effort.checks };
    const allowed = await measureNs(effort.rounds, { ...full, triesPerHit: 1 });
    const rejected = await measureNs(effort.rounds, { ...full, triesPerHit: 100 });
    rows.push({
      what: `Rollgate, ns/check: limit ${whole(limit)}, log full`,
      cells: { rollgate: `${whole(allowed)} allowed, ${whole(rejected)} rejected` },
    });
  }
  for (const keyCount of effort.keys) {
    const checks = Math.max(effort.checks, keyCount);
    const ns = await measureNs(effort.rounds, { limit: 10, keyCount, hitsPerWindow: 5, triesPerHit: 1, checks });
    rows.push({
      what: `Rollgate, ns/check: ${whole(keyCount)} keys, limit 10`,
      cells: { rollgate: `${whole(ns)} allowed` },
    });
  }
  return rows;
}

/** Uses a new process for each figure, so that earlier measurements do not slow it down. */
async function measureNs(rounds: number, task: ScalingTask): Promise<number> {
  const worker = await Worker.start<ScalingTask, number>('scaling-worker.ts', { flags: ['--expose-gc'] });
  try {
    const figures: number[] = [];
    for (let round = 0; round < rounds; round++) figures.push(await worker.run(task));
    return median(figures);
  } finally {
    await worker.stop();
  }
}

import { access } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { measureAccuracy } from './accuracy.js';
import { measureAlgorithms } from './algorithms.js';
import { measureBytes } from './bytes.js';
import { FULL, QUICK } from './effort.js';
import { measureEvening } from './evening.js';
import { measureFairWait } from './fair-wait.js';
import { measureHttp } from './http.js';
import { measureLeasing } from './leasing.js';
import { describeMachine, machineLines } from './machine.js';
import { measureMemory } from './memory.js';
import { measureOpenWorkCosts } from './open-work.js';
import { measureOutgoing } from './outgoing.js';
import { findSlower, measurePlain } from './plain.js';
import { measureRedisLoad, measureRedisState } from './redis.js';
import { measureRegions } from './regions.js';
import { saveResults, updatePages } from './results.js';
import { measureScaling } from './scaling.js';
import { measureSql } from './sql.js';
import { measureStart } from './start.js';
import { type Report, renderTable } from './table.js';

const { values: options, positionals: selected } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    compare: { type: 'boolean', default: false },
    log: { type: 'string' },
  },
  allowPositionals: true,
});
/** Relative to the directory in which the user called npm, because npm runs scripts in another one. */
const logPath = options.log === undefined ? undefined : resolve(process.env.INIT_CWD ?? '.', options.log);
const effort = options.quick ? QUICK : FULL;

/** Parts that run only if the command line names them. */
const ON_DEMAND = ['accuracy', 'plain', 'evening'];

const PARTS: Readonly<Record<string, () => Promise<Report>>> = {
  memory: () => measureMemory(effort.memory),
  bytes: () => measureBytes(effort.bytes),
  scaling: () => measureScaling(effort.scaling),
  express: () => measureHttp('express', effort.http),
  fastify: () => measureHttp('fastify', effort.http),
  hono: () => measureHttp('hono', effort.http),
  koa: () => measureHttp('koa', effort.http),
  nest: () => measureHttp('nest', effort.http),
  redis: () => measureRedisLoad(effort.redis.load),
  'redis-state': () => measureRedisState(effort.redis.growth),
  postgres: () => measureSql('postgres', effort.sql),
  sqlite: () => measureSql('sqlite', effort.sql),
  'open-work': () => measureOpenWorkCosts(effort.openWork),
  leasing: () => measureLeasing(effort.leasing),
  outgoing: () => measureOutgoing(effort.outgoing),
  'fair-wait': () => measureFairWait(effort.fairWait),
  regions: () => measureRegions(),
  algorithms: () => measureAlgorithms(effort),
  accuracy: () => measureAccuracy(logPath),
  start: () => measureStart(effort.start),
  plain: measurePlain,
  evening: () => measureEvening(effort.evening),
};

/** Parts on the command line select what to measure. */
const unknown = selected.find((part) => !Object.hasOwn(PARTS, part));
if (unknown !== undefined) {
  throw new Error(`Expected a part to be one of ${Object.keys(PARTS).join(', ')}, got ${unknown}`);
}
if (logPath !== undefined) await access(logPath); // Fails now instead of after minutes.

for (const [part, measure] of Object.entries(PARTS)) {
  if (selected.length > 0 ? !selected.includes(part) : ON_DEMAND.includes(part)) continue;
  const machine = describeMachine();
  const start = performance.now();
  process.stderr.write(`Measuring ${part} …`); // Standard output contains only the tables.
  const report = await measure();
  process.stderr.write(` ${Math.round((performance.now() - start) / 1000)} s\n`);
  console.log(
    [`## ${part}`, '', ...machineLines(machine), '', renderTable(report), '', ...report.method, ''].join('\n'),
  );
  if (options.compare) compare(part, report);
  else if (!options.quick) await saveResults(part, machine, report); // A quick run's figures scatter too much to be kept.
}
if (!options.quick && !options.compare) await updatePages();

/** Fails if the plain path has become slower than in the committed run. */
function compare(part: string, report: Report): void {
  const slower = part === 'plain' ? findSlower(report) : [];
  if (slower.length === 0) return;
  console.error(['Slower than the last committed run:', ...slower].join('\n'));
  process.exitCode = 1;
}

import { access } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ACCURACY_HEADERS, measureAccuracy } from './accuracy.js';
import { ALGORITHM_HEADERS } from './algorithms/columns.js';
import { describeAlgorithmsMethod } from './algorithms/method.js';
import { measureAlgorithms } from './algorithms.js';
import { measureBytes } from './bytes.js';
import { FULL, QUICK } from './effort.js';
import { measureHttp } from './http-cpu.js';
import { LOG_REPLAY_HEADERS, measureLogReplay } from './log-replay.js';
import { columnHeaders, describeRun, versionOf } from './machine.js';
import { measureMemory } from './memory.js';
import { describeMethod } from './method.js';
import { redisHeaders } from './redis/columns.js';
import { describeRedisMethod } from './redis/method.js';
import { measureRedis } from './redis.js';
import { measureScaling } from './scaling.js';
import { type Row, renderTable } from './table.js';

const { values: options, positionals: parts } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, log: { type: 'string' } },
  allowPositionals: true,
});
/** Relative to the directory in which the user called npm, because npm runs scripts in another one. */
const logPath = options.log === undefined ? undefined : resolve(process.env.INIT_CWD ?? '.', options.log);
const effort = options.quick ? QUICK : FULL;

/** The comparisons with other libraries without Redis, in order. */
const LOCAL_PARTS = {
  memory: () => measureMemory(effort.memory),
  http: () => measureHttp(effort.http),
  bytes: () => measureBytes(effort.bytes),
  scaling: () => measureScaling(effort.scaling),
};
const PARTS = [...Object.keys(LOCAL_PARTS), 'redis', 'algorithms', 'accuracy', 'logs'];

/** Parts on the command line select what to measure. */
const unknown = parts.find((part) => !PARTS.includes(part));
if (unknown !== undefined) throw new Error(`Expected a part to be one of ${PARTS.join(', ')}, got ${unknown}`);
if (logPath !== undefined) await access(logPath); // Fails now instead of after minutes.
const isSelected = (part: string) => parts.length === 0 || parts.includes(part);

console.log(describeRun().join('\n'));
const rows: Row[] = [];
for (const [part, measure] of Object.entries(LOCAL_PARTS)) {
  if (isSelected(part)) rows.push(...(await timed(part, measure)));
}
if (rows.length > 0) print(renderTable(rows, columnHeaders()), describeMethod(effort));
if (isSelected('redis')) {
  const { version, rows: redisRows } = await timed('redis', () => measureRedis(effort.redis));
  console.log(`\n- Redis ${version}, ioredis ${versionOf('ioredis')}`);
  print(renderTable(redisRows, redisHeaders()), describeRedisMethod(effort.redis));
}
if (isSelected('algorithms')) {
  const algorithmRows = await timed('algorithms', () => measureAlgorithms(effort));
  print(renderTable(algorithmRows, ALGORITHM_HEADERS), describeAlgorithmsMethod(effort));
}
if (isSelected('accuracy')) {
  const { rows: accuracyRows, about } = await timed('accuracy', () => measureAccuracy(logPath));
  print(renderTable(accuracyRows, ACCURACY_HEADERS), about);
}

if (isSelected('logs')) {
  const logRows = await timed('logs', () => measureLogReplay(effort.logs));
  print(renderTable(logRows, LOG_REPLAY_HEADERS), ['CPU time of all threads of the command, including its start.']);
}

async function timed<Result>(part: string, measure: () => Promise<Result>): Promise<Result> {
  const start = performance.now();
  process.stderr.write(`Measuring ${part} …`); // Standard output contains only the tables.
  const result = await measure();
  process.stderr.write(` ${Math.round((performance.now() - start) / 1000)} s\n`);
  return result;
}

function print(table: string, method: readonly string[]): void {
  console.log(['', table, '', ...method].join('\n'));
}

import { access } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ACCURACY_HEADS, measureAccuracy } from './accuracy.js';
import { ALGORITHM_HEADS } from './algorithms/columns.js';
import { describeAlgorithmsMethod } from './algorithms/method.js';
import { measureAlgorithms } from './algorithms.js';
import { measureBytes } from './bytes.js';
import { FULL, QUICK } from './effort.js';
import { measureHttp } from './http-cpu.js';
import { LOG_REPLAY_HEADS, measureLogReplay } from './log-replay.js';
import { columnHeads, describeRun, versionOf } from './machine.js';
import { measureMemory } from './memory.js';
import { describeMethod } from './method.js';
import { redisHeads } from './redis/columns.js';
import { describeRedisMethod } from './redis/method.js';
import { measureRedis } from './redis.js';
import { measureScaling } from './scaling.js';
import { type Row, renderTable } from './table.js';

const { values: options, positionals: asked } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, log: { type: 'string' } },
  allowPositionals: true,
});
/** From where npm was called, which runs scripts elsewhere. */
const logPath = options.log === undefined ? undefined : resolve(process.env.INIT_CWD ?? '.', options.log);
const effort = options.quick ? QUICK : FULL;

/** Rollgate beside the alternatives, without Redis, in this order. */
const LOCAL_PARTS = {
  memory: () => measureMemory(effort.memory),
  http: () => measureHttp(effort.http),
  bytes: () => measureBytes(effort.bytes),
  scaling: () => measureScaling(effort.scaling),
};
const PARTS = [...Object.keys(LOCAL_PARTS), 'redis', 'algorithms', 'accuracy', 'logs'];

/** Names of parts on the command line leave the others out. */
const unknown = asked.find((part) => !PARTS.includes(part));
if (unknown !== undefined) throw new Error(`Unknown part ${unknown}: there are ${PARTS.join(', ')}`);
if (logPath !== undefined) await access(logPath); // Rather now than after minutes.
const isAsked = (part: string) => asked.length === 0 || asked.includes(part);

console.log(describeRun().join('\n'));
const rows: Row[] = [];
for (const [part, measure] of Object.entries(LOCAL_PARTS)) {
  if (isAsked(part)) rows.push(...(await timed(part, measure)));
}
if (rows.length > 0) print(renderTable(rows, columnHeads()), describeMethod(effort));
if (isAsked('redis')) {
  const { version, rows: redisRows } = await timed('redis', () => measureRedis(effort.redis));
  console.log(`\n- Redis ${version}, ioredis ${versionOf('ioredis')}`);
  print(renderTable(redisRows, redisHeads()), describeRedisMethod(effort.redis));
}
if (isAsked('algorithms')) {
  const algorithmRows = await timed('algorithms', () => measureAlgorithms(effort));
  print(renderTable(algorithmRows, ALGORITHM_HEADS), describeAlgorithmsMethod(effort));
}
if (isAsked('accuracy')) {
  const { rows: accuracyRows, about } = await timed('accuracy', () => measureAccuracy(logPath));
  print(renderTable(accuracyRows, ACCURACY_HEADS), about);
}

if (isAsked('logs')) {
  const logRows = await timed('logs', () => measureLogReplay(effort.logs));
  print(renderTable(logRows, LOG_REPLAY_HEADS), ['CPU time of all threads of the command, its start included.']);
}

async function timed<Result>(part: string, measure: () => Promise<Result>): Promise<Result> {
  const start = performance.now();
  process.stderr.write(`Measuring ${part} …`); // The output proper is the tables alone.
  const result = await measure();
  process.stderr.write(` ${Math.round((performance.now() - start) / 1000)} s\n`);
  return result;
}

function print(table: string, method: readonly string[]): void {
  console.log(['', table, '', ...method].join('\n'));
}

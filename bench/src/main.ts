import { measureBytes } from './bytes.js';
import { FULL, QUICK } from './effort.js';
import { measureHttp } from './http-cpu.js';
import { columnHeads, describeRun, versionOf } from './machine.js';
import { measureMemory } from './memory.js';
import { describeMethod } from './method.js';
import { redisHeads } from './redis/columns.js';
import { describeRedisMethod } from './redis/method.js';
import { measureRedis } from './redis.js';
import { measureScaling } from './scaling.js';
import { type Row, renderTable } from './table.js';

const args = process.argv.slice(2);
const effort = args.includes('--quick') ? QUICK : FULL;

/** What is measured without Redis, in this order. */
const LOCAL_PARTS = {
  memory: () => measureMemory(effort.memory),
  http: () => measureHttp(effort.http),
  bytes: () => measureBytes(effort.bytes),
  scaling: () => measureScaling(effort.scaling),
};
const PARTS = [...Object.keys(LOCAL_PARTS), 'redis'];

/** Names of parts on the command line leave the others out. */
const asked = args.filter((arg) => arg !== '--quick');
const unknown = asked.find((arg) => !PARTS.includes(arg));
if (unknown !== undefined) {
  throw new Error(`Unknown argument ${unknown}: there are --quick and the parts ${PARTS.join(', ')}`);
}
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

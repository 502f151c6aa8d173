import { measureBytes } from './bytes.js';
import { FULL, QUICK } from './effort.js';
import { measureHttp } from './http-cpu.js';
import { describeRun, subjectVersions } from './machine.js';
import { measureMemory } from './memory.js';
import { describeMethod } from './method.js';
import { measureScaling } from './scaling.js';
import { type Row, renderTable } from './table.js';

const args = process.argv.slice(2);
const effort = args.includes('--quick') ? QUICK : FULL;
const run = describeRun();

/** What is measured, in this order. Names of parts on the command line leave the others out. */
const PARTS = {
  memory: () => measureMemory(effort.memory),
  http: () => measureHttp(effort.http),
  bytes: () => measureBytes(effort.bytes),
  scaling: () => measureScaling(effort.scaling),
};
const asked = args.filter((arg) => arg !== '--quick');
const unknown = asked.find((arg) => !Object.hasOwn(PARTS, arg));
if (unknown !== undefined) {
  throw new Error(`Unknown argument ${unknown}: there are --quick and the parts ${Object.keys(PARTS).join(', ')}`);
}

const rows: Row[] = [];
for (const [name, measure] of Object.entries(PARTS)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  const start = performance.now();
  process.stderr.write(`Measuring ${name} …`); // The output proper is the table alone.
  rows.push(...(await measure()));
  process.stderr.write(` ${Math.round((performance.now() - start) / 1000)} s\n`);
}

console.log([...run, '', renderTable(rows, subjectVersions()), '', ...describeMethod(effort)].join('\n'));

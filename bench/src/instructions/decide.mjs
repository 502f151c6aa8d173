// Prints the instructions of one `decide()` in memory, for each work of decide-worker.mjs. Counts do not depend on what else the machine
// does. Requires valgrind, and a build: node bench/src/instructions/decide.mjs [work …]
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const worker = fileURLToPath(new URL('decide-worker.mjs', import.meta.url));

export const WORKS = [
  'rolling allowed',
  'rolling allowed, after a full collection',
  'rolling rejected',
  'fixed window',
  'token bucket',
  'cost 5',
  'rolling and fixed',
  'new key',
];

/** Counts the instructions of one `decide()`, with the loop around it and the collection of its garbage. */
export async function countInstructions(work) {
  const folder = await mkdtemp(join(tmpdir(), 'rollgate-callgrind-'));
  const counts = join(folder, 'counts');
  try {
    const { stdout } = await run('valgrind', [
      '-q',
      '--tool=callgrind',
      '--dump-before=uv_uptime',
      `--callgrind-out-file=${counts}`,
      process.execPath,
      '--single-threaded',
      worker,
      work,
    ]);
    // The worker asks for the uptime before and after the measured part, so that is the second dump.
    const [, total] = /^(?:summary|totals): (\d+)/m.exec(await readFile(`${counts}.2`, 'utf8'));
    return Math.round(Number(total) / JSON.parse(stdout).decides);
  } finally {
    await rm(folder, { recursive: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const selected = process.argv.slice(2);
  for (const work of selected.length > 0 ? selected : WORKS) {
    console.log(`${work.padEnd(20)} ${await countInstructions(work)}`);
  }
}

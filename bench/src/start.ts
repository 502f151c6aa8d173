import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Effort } from './effort.js';
import { measureInTurn, median } from './statistics.js';
import { type Report, type Row, tenths, toFigure, whole } from './table.js';

const HEADERS = { cpu: 'CPU, ms', files: 'files', rss: 'resident memory, MB' };
type Column = keyof typeof HEADERS;
type Start = Readonly<Record<'cpuMs' | 'files' | 'rssMb', number>>;

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const COUNT_START = join(FOLDER, 'start/count-start.cjs');
const CLI = fileURLToPath(new URL('../../packages/cli/dist/main.js', import.meta.url));

/** One request to a server of this process, which then ends. */
const ONE_REQUEST = `
server.listen(0, '127.0.0.1', async () => {
  await (await fetch('http://127.0.0.1:' + server.address().port)).text();
  process.exit();
});`;

const serveExpress = (setUp: string) => `
const app = require('express')();
${setUp}
app.get('/', (_request, response) => response.end());
const server = require('node:http').createServer(app);
${ONE_REQUEST}`;

/** Programs in turns: those of Rollgate, each after the one with which it is compared. */
const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  'import express-rate-limit': ['-e', "require('express-rate-limit')"],
  'import @rollgate/express': ['-e', "require('@rollgate/express')"],
  'import @rollgate/web': ['-e', "require('@rollgate/web')"],
  'import @fastify/rate-limit': ['-e', "require('@fastify/rate-limit')"],
  'import @rollgate/fastify': ['-e', "require('@rollgate/fastify')"],
  'import express-rate-limit and rate-limit-redis': [
    '-e',
    "require('express-rate-limit'); require('rate-limit-redis')",
  ],
  'import @rollgate/express and @rollgate/redis': ['-e', "require('@rollgate/express'); require('@rollgate/redis')"],
  'one request, Express alone': ['-e', serveExpress('')],
  'one request, express-rate-limit': ['-e', serveExpress("app.use(require('express-rate-limit').rateLimit());")],
  'one request, @rollgate/express': [
    '-e',
    serveExpress("app.use(require('@rollgate/express').rateLimit({ limit: 5, window: '1m' }));"),
  ],
  'rollgate --help': [CLI, '--help'],
};

/** Measures what the first moments of a process cost: imports, a function that serves one request and ends, and the command. */
export async function measureStart({ rounds }: Effort['start']): Promise<Report<Column>> {
  const folder = mkdtempSync(join(tmpdir(), 'rollgate-start-'));
  try {
    const log = join(folder, 'access.log');
    writeFileSync(log, '192.0.2.1 - - [01/Mar/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 1\n'.repeat(1000));
    const programs = { ...PROGRAMS, 'rollgate suggest, 1,000 lines': [CLI, 'suggest', log, '--window', '1m'] };
    const starts = await measureStarts(programs, rounds);
    return {
      headers: HEADERS,
      rows: [...starts].map(([what, all]) => toRow(what, all)),
      method: [
        `- **Each figure** is the median of ${rounds} new processes, in turns, less that of Node and of its own modules.`,
        '- **Files** are those that `require` has loaded. The command consists of ES modules, which it does not count.',
      ],
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Starts each program once in each round, in turns. */
export function measureStarts(
  programs: Readonly<Record<string, readonly string[]>>,
  rounds: number,
): Promise<ReadonlyMap<string, readonly Start[]>> {
  return measureInTurn(Object.keys(programs), { rounds }, (what) => start(programs[what]!));
}

async function start(args: readonly string[]): Promise<Start> {
  const child = spawn(process.execPath, ['--require', COUNT_START, ...args], {
    cwd: FOLDER,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const [counted] = await Promise.all([text(child.stdio[3] as Readable), once(child, 'exit')]);
  return JSON.parse(counted);
}

function toRow(what: string, starts: readonly Start[]): Row<Column> {
  const of = (column: keyof Start) => median(starts.map((one) => one[column]));
  return {
    what,
    cells: {
      cpu: toFigure(of('cpuMs'), tenths),
      files: toFigure(of('files'), whole),
      rss: toFigure(of('rssMb'), tenths),
    },
  };
}

import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Effort } from './effort.js';
import { runCommand } from './run-command.js';
import { type Report, type Row, toFigure, whole } from './table.js';

const HEADERS = { time: 'lines per second', memory: 'peak memory, MB' };
type Column = keyof typeof HEADERS;

const COMMANDS = [
  ['suggest', '--window', '1m'],
  ['simulate', '--limit', '100/1m'],
  ['simulate', '--limit', '100/1m', '--algorithm', 'fixed'],
  ['compare', '--limit', '100/1m'],
];

const CALLERS = 20_000;
const LINES_PER_SECOND = 50;
const AGENT = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36';

/** Measures the speed and memory of log replays. A second, longer log shows that memory does not grow with the length. */
export async function measureLogReplay({ lines, times }: Effort['logs']): Promise<Report<Column>> {
  const folder = await mkdtemp(join(tmpdir(), 'rollgate-log-'));
  try {
    const rows: Row<Column>[] = [];
    for (const count of [lines, lines * times]) {
      const log = join(folder, 'access.log');
      await writeLog(log, count);
      for (const command of COMMANDS) {
        const { cpuSeconds, peakMb } = await runCommand([...command, log]);
        rows.push({
          what: `${command.join(' ')}: ${whole(count)} lines`,
          cells: { time: toFigure(count / cpuSeconds, whole), memory: toFigure(peakMb, whole) },
        });
      }
    }
    return {
      headers: HEADERS,
      rows,
      method: ['CPU time of all threads of the command, including its start.'],
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes a log in the combined format. Few of its clients are busy, and its lines are a few seconds out of order. */
async function writeLog(path: string, count: number): Promise<void> {
  const random = chance();
  const start = Date.UTC(2026, 0, 1);
  const file = await open(path, 'w');
  let lines: string[] = [];
  for (let line = 0; line < count; line++) {
    const ms = start + (Math.floor(line / LINES_PER_SECOND) + Math.floor(random() * 3)) * 1000;
    const caller = Math.floor(random() ** 3 * CALLERS);
    const request = `GET /articles/${line % 977}/images/picture-${caller % 31}.png HTTP/1.1`;
    lines.push(`10.0.${caller >> 8}.${caller & 255} - - [${commonDate(ms)}] "${request}" 200 ${line} "-" "${AGENT}"\n`);
    if (lines.length === 10_000 || line === count - 1) {
      await file.write(lines.join(''));
      lines = [];
    }
  }
  await file.close();
}

/** Writes a time such as `17/May/2026:10:05:03 +0000`. */
function commonDate(ms: number): string {
  const [, date, month, year, time] = new Date(ms).toUTCString().split(' ');
  return `${date}/${month}/${year}:${time} +0000`;
}

/** Creates a pseudorandom generator of numbers from 0 to 1 with a fixed seed. */
function chance(): () => number {
  let state = 7;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

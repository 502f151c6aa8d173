import { combinedLine, START_MS } from './support/log-lines';
import { rollgate } from './support/rollgate';

const LINES = 10_000;
const CALLERS = 500;
/** Between one copy of the log and the next. */
const SHIFT_MS = LINES * 100;

/** The same log again and again, each copy later than the one before. */
function* repeated(times: number): Generator<string> {
  for (let copy = 0; copy < times; copy++) {
    const lines = Array.from({ length: LINES }, (_, index) =>
      combinedLine({ ms: START_MS + copy * SHIFT_MS + index * 100, ip: `192.0.2.${(index * 7919) % CALLERS}` }),
    );
    yield `${lines.join('\n')}\n`;
  }
}

/** Megabytes: 500,000 requests that were kept would not fit. */
const SMALL_HEAP = ['--max-old-space-size=24'];

test.each([
  ['simulate', ['--limit', '5/1m']],
  ['suggest', []],
  ['compare', ['--limit', '5/1m']],
])(
  '%s needs no more memory for 50 times the log',
  async (command, args) => {
    for (const times of [1, 50]) {
      const input = repeated(times);
      const { code, stdout, stderr } = await rollgate([command, ...args], { input, nodeOptions: SMALL_HEAP });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain(`${(LINES * times).toLocaleString('en-US')} requests of ${CALLERS} callers`);
    }
  },
  120_000,
);

import { testFiles } from './support/test-files.js';

/** Matches an upper bound on milliseconds, such as the time since a moment that the test recorded. */
const UPPER_BOUND = /(?:\b(?:performance|Date)\.now\(\)|Ms\b).*\.toBeLess/;

/** The remaining bounds, each as a part of its line, with the reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'expect(decision.retryAfterMs)': 'computed from the limits and a time that the test sets',
  'expect(estimated.limits[name]!.retryAfterMs)': 'compares two figures of the same moment',
  'expect(resetMs * 1000)': 'time until a moment of the server, which only falls while the machine is busy',
  'expect(leftMs)': 'time to live, which only falls while the machine is busy',
  'toBeLessThan(60_000)': 'distinguishes clocks by a minute',
  'Date.parse(reset)': 'distinguishes units by half a minute',
  'timeoutMs + SLACK_MS': 'measured by a clock that stands still while the process gets no time',
  'MAX_SLOWDOWN * (usualMs + TOLERANCE_MS)': 'compares with the time that the same work takes in the same run',
  'expect(startedMs)': 'compares two times of the injected clock',
  'expect(tooCloseMs(': 'subtracts the time for which each process itself was late',
  'turns[1]!.delayMs': 'computed by the limiter from one reading of the clock',
};

const tests = testFiles().filter(({ path }) => path !== __filename);

const bounds = tests.flatMap(({ name, text }) =>
  text
    .split('\n')
    .filter((line) => UPPER_BOUND.test(line))
    .map((line) => `${name}: ${line.trim()}`),
);

test('no test asserts that wall-clock time is short, which a busy machine would break', () => {
  expect(tests.length).toBeGreaterThan(50);
  const isException = (bound: string) => Object.keys(EXCEPTIONS).some((part) => bound.includes(part));
  expect(bounds.filter((bound) => !isException(bound))).toEqual([]);
});

test.each(Object.keys(EXCEPTIONS))('the exception is still needed: %s', (part) => {
  expect(bounds.filter((bound) => bound.includes(part))).not.toEqual([]);
});

/** Matches the timeout at the end of a test or hook. Less than a second is the delay of a timer. */
const OWN_TIMEOUT = /^ *\},\s+(\d[\d_]*),?\s*\);/gm;
/** `testTimeout` in jest.config.ts. */
const TIMEOUT_MS = 120_000;

test('no test has less time than the others, which a busy machine would exceed', () => {
  const own = tests.flatMap(({ name, text }) =>
    [...text.matchAll(OWN_TIMEOUT)].map(([, ms]) => ({ name, ms: Number(ms!.replaceAll('_', '')) })),
  );
  expect(own.filter(({ ms }) => 1000 <= ms && ms < TIMEOUT_MS)).toEqual([]);
});

import type { RedisServer } from '@rollgate/test-support';
import type { Effort } from '../effort.js';
import { inTurn, median } from '../statistics.js';
import { atLeast, atMost, type Goal, versus, whole } from '../table.js';
import { type Checker, withCheckers } from './check-workers.js';
import type { RedisRow } from './columns.js';
import { readFigures, resetFigures } from './server-figures.js';
import { BASELINE, REDIS_SUBJECT_NAMES, type RedisSubjectName } from './subjects.js';

const LIMIT = 100;
const CHECKS_PER_KEY = 2;
const IN_FLIGHT = [1, 16, 64, 256] as const;
/** The number of checks in flight to which the goals apply. It is typical of a server with some traffic. */
const BUSY = 64;

type InFlight = (typeof IN_FLIGHT)[number];

interface Figures {
  readonly perSecond: number;
  readonly clientMicros: number;
  readonly serverMicros: number;
  readonly medianMs: number;
}

type Rounds = Record<RedisSubjectName, Record<InFlight, Figures[]>>;

/** Measures allowed checks with several numbers of checks in flight. */
export async function measureLoad(server: RedisServer, effort: Effort['redis']['load']): Promise<RedisRow[]> {
  const measured = Object.fromEntries(
    REDIS_SUBJECT_NAMES.map((name) => [name, Object.fromEntries(IN_FLIGHT.map((inFlight) => [inFlight, []]))]),
  ) as unknown as Rounds;
  await withCheckers(server, REDIS_SUBJECT_NAMES, LIMIT, async (checkers) => {
    for (const { worker } of checkers) {
      await server.run('FLUSHALL');
      await worker.run({ keyCount: effort.keysTogether, checks: effort.warmUp, inFlight: BUSY });
    }
    for (let round = 0; round < effort.rounds; round++) {
      for (const inFlight of IN_FLIGHT) {
        const keyCount = inFlight === 1 ? effort.keysAlone : effort.keysTogether;
        for (const checker of inTurn(checkers, round)) {
          measured[checker.name][inFlight].push(await measureOne(server, checker, inFlight, keyCount));
        }
      }
    }
  });
  return toRows(measured);
}

async function measureOne(
  server: RedisServer,
  { name, worker }: Checker,
  inFlight: InFlight,
  keyCount: number,
): Promise<Figures> {
  await server.run('FLUSHALL');
  await resetFigures(server);
  const checks = keyCount * CHECKS_PER_KEY;
  const { seconds, cpuMicros, medianMs, rejected } = await worker.run({ keyCount, checks, inFlight });
  const { micros } = await readFigures(server);
  const keysThere = Number(await server.run('DBSIZE'));
  if (rejected > 0 || keysThere < keyCount) {
    throw new Error(
      `Expected ${name} to allow ${checks} checks of ${keyCount} keys, got ${rejected} rejections and ${keysThere} keys`,
    );
  }
  return {
    perSecond: checks / seconds,
    clientMicros: cpuMicros,
    serverMicros: micros / checks,
    medianMs: medianMs ?? Number.NaN,
  };
}

function toRows(measured: Rounds): RedisRow[] {
  function toRow(
    what: string,
    inFlight: InFlight,
    figure: keyof Figures,
    write: (value: number) => string,
    toBars: (ratio: (other: RedisSubjectName) => number) => Goal[] = () => [],
  ): RedisRow {
    const middle = (name: RedisSubjectName) => median(measured[name][inFlight].map((figures) => figures[figure]));
    const ratio = (other: RedisSubjectName) => middle(BASELINE) / middle(other);
    const cell = (name: RedisSubjectName) => write(middle(name)) + (name === BASELINE ? '' : versus(ratio(name)));
    return {
      what: `${what}, ${inFlight} in flight`,
      cells: Object.fromEntries(REDIS_SUBJECT_NAMES.map((name) => [name, cell(name)])),
      goals: toBars(ratio),
    };
  }

  return [
    ...IN_FLIGHT.map((inFlight) =>
      toRow('checks/s', inFlight, 'perSecond', whole, (ratio) =>
        inFlight === BUSY
          ? [
              atLeast(2, 'rate-limit-redis', ratio('rate-limit-redis')),
              atLeast(2, 'rate-limiter-flexible', ratio('rate-limiter-flexible')),
            ]
          : [],
      ),
    ),
    ...IN_FLIGHT.map((inFlight) =>
      toRow('client CPU µs/check', inFlight, 'clientMicros', tenths, (ratio) =>
        inFlight === BUSY ? [atMost(0.35, 'INCR', ratio('INCR'))] : [],
      ),
    ),
    ...([1, BUSY] as const).map((inFlight) =>
      toRow('server CPU µs/check within commands', inFlight, 'serverMicros', tenths, (ratio) => [
        atMost(2.5, 'the script of INCR and PTTL', ratio('INCR + PTTL')),
      ]),
    ),
    toRow('median ms/check', 1, 'medianMs', thousandths, (ratio) => [
      atMost(1.1, 'the plain EVALSHA', ratio('EVALSHA')),
    ]),
  ];
}

function tenths(value: number): string {
  return value.toFixed(1);
}

function thousandths(value: number): string {
  return value.toFixed(3);
}

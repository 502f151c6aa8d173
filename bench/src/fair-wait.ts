import type { Effort } from './effort.js';
import { LIBRARIES, type WaitingLibrary } from './fair-wait/libraries.js';
import {
  CALLERS,
  GAP_MS,
  LIMIT,
  OWN_WINDOW_MS,
  PROCESSES,
  REFUND_AFTER_MS,
  SCENARIOS,
  type Scenario,
  TEAM_LIMIT,
  TEAM_WINDOW_MS,
  WINDOW_MS,
} from './fair-wait/load.js';
import { type Outcome, runTrial } from './fair-wait/trial.js';
import { versionOf } from './machine.js';
import { inTurn, median } from './statistics.js';
import { type Report, type Row, tenths, toFigure, whole } from './table.js';

/** How a figure appears: its title, how it is written, and what it is of the rounds. */
interface Column {
  readonly title: string;
  readonly write: (value: number) => string;
  readonly of: (values: readonly number[]) => number;
}

const most = (values: readonly number[]) => Math.max(...values);
const least = (values: readonly number[]) => Math.min(...values);
const hundredths = (value: number) => value.toFixed(2);

export const FIGURES: Readonly<Record<keyof Outcome, Column>> = {
  invertedPercent: { title: 'pairs out of order (%)', write: tenths, of: most },
  invertedInRedisPercent: { title: 'pairs out of order, by arrival in Redis (%)', write: tenths, of: most },
  scriptsPerStart: { title: 'scripts per start', write: hundredths, of: median },
  usedPercent: { title: 'quota used (%)', write: tenths, of: median },
  mostWithin: { title: 'most starts in any 75 ms', write: whole, of: most },
  startedPercent: { title: 'live callers that started (%)', write: whole, of: least },
};

/** Without a reservoir, nothing is freed, and all of its starts have the same distance. */
const WITHOUT_BOTTLENECK: readonly Scenario[] = ['a third refunded', 'a token bucket', 'two limits', 'three limits'];

/** Lets callers of several processes wait for one limit in Redis, in order and not. */
export async function measureFairWait({ rounds }: Effort['fairWait']): Promise<Report<WaitingLibrary>> {
  const names = Object.keys(LIBRARIES) as WaitingLibrary[];
  const outcomes = new Map<string, Outcome[]>();
  for (let round = 0; round < rounds; round++) {
    for (const scenario of SCENARIOS) {
      for (const library of inTurn(names, round)) {
        if (library === 'bottleneck' && WITHOUT_BOTTLENECK.includes(scenario)) continue;
        const outcome = await runTrial(library, scenario);
        const all = outcomes.get(`${scenario} ${library}`) ?? [];
        outcomes.set(`${scenario} ${library}`, [...all, outcome]);
        process.stderr.write(`\n${scenario}, ${library}: ${JSON.stringify(outcome)}`);
      }
    }
  }
  const rowOf = (scenario: Scenario, figure: keyof Outcome): Row<WaitingLibrary> => ({
    what: `${scenario}: ${FIGURES[figure].title}`,
    cells: Object.fromEntries(
      names.flatMap((library) => {
        const values = (outcomes.get(`${scenario} ${library}`) ?? []).map((outcome) => outcome[figure]);
        const known = values.filter((value) => value !== undefined);
        return known.length === 0 ? [] : [[library, toFigure(FIGURES[figure].of(known), FIGURES[figure].write)]];
      }),
    ),
  });
  const figures = Object.keys(FIGURES) as (keyof Outcome)[];
  const rows = SCENARIOS.flatMap((scenario) => figures.map((figure) => rowOf(scenario, figure)));
  return { headers: describeLibraries(), rows, method: describeMethod(rounds) };
}

function describeLibraries(): Record<WaitingLibrary, string> {
  return {
    fair: 'with `fairWaiting`',
    plain: 'without it',
    bottleneck: `bottleneck ${versionOf('bottleneck')}`,
  };
}

function describeMethod(rounds: number): string[] {
  return [
    `- **Load**: ${CALLERS} callers of ${PROCESSES} processes wait for ${LIMIT} units per ${WINDOW_MS} ms in a private Redis. They call ${GAP_MS} ms apart, one process after the other.`,
    `- **Out of order**: A pair of callers counts if the later one started first, and by more than the default \`horizon\`, which is 25 ms here, or 50 ms with several limits. The pair does not count if a limit that only the earlier one needs held it back. Callers of the process that was stopped or killed do not count either.`,
    `- **A third refunded**: Every third caller frees its unit ${REFUND_AFTER_MS} ms after its start. The scripts of these refunds do not count.`,
    `- **A token bucket**: It has a capacity of ${LIMIT} and gets one unit every ${WINDOW_MS / LIMIT} ms.`,
    `- **Two limits**: Each process also has its own limit of one unit per ${OWN_WINDOW_MS} ms, so callers wait for both limits.`,
    `- **Three limits**: Each team of two processes has a third limit of ${TEAM_LIMIT} units per ${TEAM_WINDOW_MS} ms.`,
    '- **Quota**: This is the shortest possible time for these starts, divided by the time that they took. The shortest time is that of a scheduler that knows all callers, and starts each one as early as the limits and the callers ahead allow.',
    '- **Most starts in any 75 ms**: The limit allows 5 starts in 100 ms, and each start may come 25 ms late.',
    `- **bottleneck**: It starts one call every ${WINDOW_MS / LIMIT} ms, because it can refill a quota in Redis at most every 5 s. Starts that are paced like this cannot be refunded.`,
    `- **Rounds**: ${rounds}. Scripts and quota are medians, and the other figures are the worst ones.`,
  ];
}

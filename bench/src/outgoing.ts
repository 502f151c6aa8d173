import { versionOf } from './machine.js';
import { LIBRARIES, type OutgoingLibrary } from './outgoing/libraries.js';
import { CALLERS, type Outcome, PROCESSES, runTrial, type Scenario } from './outgoing/trial.js';
import { type Report, type Row, tenths, toFigure } from './table.js';

const ALL = { busy: PROCESSES, foreign: 0 };

/** By the titles of the rows. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  GitHub: { api: 'github', ...ALL },
  'GitHub, one process busy': { api: 'github', ...ALL, busy: 1 },
  'GitHub, another client': { api: 'github', ...ALL, foreign: 0.1 },
  OpenAI: { api: 'openai', ...ALL },
  Discord: { api: 'discord', ...ALL },
};

/** The figures of each scenario. */
export const REJECTED = '% of the calls rejected';
export const USED = '% of the quota used';

/** Calls APIs that limit their clients from several processes, with each library. */
export async function measureOutgoing({ seconds }: { readonly seconds: number }): Promise<Report<OutgoingLibrary>> {
  const names = Object.keys(LIBRARIES) as OutgoingLibrary[];
  const outcomes = new Map<string, Outcome>();
  for (const [title, scenario] of Object.entries(SCENARIOS)) {
    for (const library of names) {
      if (library === 'octokit' && scenario.api !== 'github') continue;
      const outcome = await runTrial(library, scenario, seconds);
      outcomes.set(`${title} ${library}`, outcome);
      process.stderr.write(`\n${title}, ${library}: ${JSON.stringify(outcome)}`);
    }
  }
  const rowOf = (title: string, what: string, part: keyof Outcome): Row<OutgoingLibrary> => ({
    what: `${title}: ${what}`,
    cells: Object.fromEntries(
      names.flatMap((library) => {
        const outcome = outcomes.get(`${title} ${library}`);
        return outcome === undefined ? [] : [[library, toFigure(outcome[part], tenths)]];
      }),
    ),
  });
  const rows = Object.keys(SCENARIOS).flatMap((title) => [
    rowOf(title, REJECTED, 'rejectedPercent'),
    rowOf(title, USED, 'usedPercent'),
  ]);
  return { headers: describeLibraries(), rows, method: describeMethod(seconds) };
}

function describeLibraries(): Record<OutgoingLibrary, string> {
  return {
    rollgate: '@rollgate/fetch',
    bottleneck: `bottleneck ${versionOf('bottleneck')}`,
    effect: `effect ${versionOf('effect')}`,
    octokit: `@octokit/plugin-throttling ${versionOf('@octokit/plugin-throttling')}`,
    'p-throttle': `p-throttle ${versionOf('p-throttle')}`,
    'p-throttle, divided': 'p-throttle with a quarter of the limit',
  };
}

function describeMethod(seconds: number): string[] {
  return [
    `- **Load**: ${PROCESSES} processes share a private Redis for ${seconds} s. Each process always has ${CALLERS} calls that wait or have no response yet. A server on this machine responds after 20 to 80 ms.`,
    '- **GitHub**: The server allows 250 calls per window of 10 s, instead of 5,000 per hour.',
    '- **One process busy**: The other three make no calls.',
    '- **Another client**: It sends 25 calls per window, evenly over time. The server rejects most of them, because the library uses up the window soon after its start.',
    '- **OpenAI**: The server allows 60,000 tokens, which refill in 10 s instead of a minute. A call takes 200 to 2,000 tokens.',
    '- **Discord**: The server allows 5 calls per window of 1 s. Each window starts with the first call after the previous window has ended.',
    '- **Quota**: This is what the server allows in this time, without what the other client got. For OpenAI, the tokens that are available at the start come on top.',
    '- **–**: The library works only with GitHub, so it has no result here.',
  ];
}

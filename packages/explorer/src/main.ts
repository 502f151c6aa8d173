import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { type AlgorithmName, algorithmNames } from '../../store-conformance/src/algorithms.js';
import { describeHistory } from './limits/describe-history.js';
import type { Finding } from './limits/expansion.js';
import { exploreFull } from './limits/explore-full-store.js';
import { exploreLimits, type LimitsExploration, type LimitsOptions } from './limits/explore-limits.js';
import type { Scenario } from './limits/scenario.js';
import { fullScenariosOf, scenariosOf } from './limits/scenarios.js';

const USAGE = `Runs every sequence of operations on Rollgate's limits, up to a given length.
Compares each decision with the oracles.

npm run explore -- [--algorithm <name>] [--scenario <text>] [--depth <steps>] [--states <count>] [--no-merge]

  --algorithm  One of ${algorithmNames.join(', ')}; default all of them, one after the other
  --scenario   Only scenarios whose name contains this text
  --depth      Steps of the longest histories; default 5, or as many as \`--states\` needs
  --states     Goes deeper until an algorithm's scenarios have so many states in total
  --no-merge   Extends every history, even when several end in the same state`;

/** Deeper than any exploration can get. */
const ANY_DEPTH = 99;
/** The explorer merges no histories in a full store, so a few seconds suffice for this depth. */
const FULL_DEPTH = 5;

const { values } = parseArgs({
  options: {
    algorithm: { type: 'string' },
    scenario: { type: 'string', default: '' },
    depth: { type: 'string' },
    states: { type: 'string' },
    'no-merge': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

interface Figures {
  readonly states: number;
  readonly transitions: number;
  readonly seconds: number;
}

async function main(): Promise<void> {
  if (values.help) return console.log(USAGE);
  const algorithms = algorithmNames.filter((name) => name === (values.algorithm ?? name));
  if (algorithms.length === 0) throw new Error(`Unknown algorithm \`${values.algorithm}\`\n\n${USAGE}`);
  const depth = toCount('depth', values.depth);
  const states = toCount('states', values.states);
  const hasScenario = algorithms.some(
    (name) => selectScenarios([...scenariosOf(name), ...fullScenariosOf(name)]).length > 0,
  );
  if (!hasScenario)
    throw new Error(`Expected \`--scenario\` to be part of a scenario's name, got '${values.scenario}'`);
  for (const algorithm of algorithms) {
    await exploreAll(algorithm, depth, states);
    await exploreAllFull(algorithm);
  }
}

function toCount(name: string, text: string | undefined): number | undefined {
  if (text === undefined || /^[1-9]\d*$/.test(text)) return text === undefined ? undefined : Number(text);
  throw new Error(`Expected \`--${name}\` to be a positive integer, got '${text}'`);
}

async function exploreAll(algorithm: AlgorithmName, givenDepth?: number, givenStates?: number): Promise<void> {
  const scenarios = selectScenarios(scenariosOf(algorithm));
  const states = (givenStates ?? Infinity) / scenarios.length;
  const depth = givenDepth ?? (givenStates === undefined ? 5 : ANY_DEPTH);
  const total = { states: 0, transitions: 0, seconds: 0 };
  for (const scenario of scenarios) {
    const run = values.states === undefined ? exploreLimits : exploreInThread; // A thread pays off for long runs only.
    const exploration = await run(scenario, { depth, states, merge: !values['no-merge'] });
    console.log(`${scenario.name}: depth ${exploration.depth}, ${formatFigures(exploration)}`);
    report(scenario, exploration.finding);
    for (const figure of ['states', 'transitions', 'seconds'] as const) total[figure] += exploration[figure];
  }
  console.log(`${algorithm}: ${scenarios.length} scenarios, ${formatFigures(total)}\n`);
}

/** Explores in a separate thread, whose compiled code knows only this scenario's limits. That is twice as fast. */
async function exploreInThread(scenario: Scenario, options: LimitsOptions): Promise<LimitsExploration> {
  const worker = new Worker(__filename, { workerData: { scenario, options } });
  const [exploration] = await once(worker, 'message');
  return exploration;
}

async function runInThread(): Promise<void> {
  const { scenario, options } = workerData as { scenario: Scenario; options: LimitsOptions };
  parentPort!.postMessage(await exploreLimits(scenario, options));
}

async function exploreAllFull(algorithm: AlgorithmName): Promise<void> {
  for (const scenario of selectScenarios(fullScenariosOf(algorithm))) {
    for (const maxKeys of [2, 3]) {
      const { states, finding } = await exploreFull(scenario, maxKeys, FULL_DEPTH);
      console.log(`${scenario.name}, at most ${maxKeys} keys: depth ${FULL_DEPTH}, ${formatCount(states)} histories`);
      report(scenario, finding);
    }
  }
  console.log('');
}

const selectScenarios = (scenarios: readonly Scenario[]) =>
  scenarios.filter(({ name }) => name.includes(values.scenario));

function report(scenario: Scenario, finding: Finding | undefined): void {
  if (finding === undefined) return;
  process.exitCode = 1;
  console.log(`FAILS: ${finding.problem}\n${describeHistory(scenario, finding.steps)}`);
  console.log(`expected ${JSON.stringify(finding.expected)}\n     got ${JSON.stringify(finding.actual)}`);
  console.log(`To replay: npm run explore -- --scenario '${scenario.name}' --depth ${finding.steps.length}`);
}

const formatCount = (number: number) => Math.round(number).toLocaleString('en');

function formatFigures({ states, transitions, seconds }: Figures): string {
  const speed = `${formatCount(states / seconds)} states and ${formatCount(transitions / seconds)} transitions a second`;
  return `${formatCount(states)} states, ${formatCount(transitions)} transitions, ${seconds.toFixed(1)} s of CPU, ${speed}`;
}

void (isMainThread ? main() : runInThread());

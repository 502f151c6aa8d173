import { type Command, Option } from 'commander';
import { ALGORITHMS, type NamedQuota } from './algorithms.js';
import { analyzeLogs } from './analyze-logs.js';
import { inCalendar, type Span } from './calendar-span.js';
import {
  type CommonOptions,
  command,
  hasCosts,
  type LimitOptions,
  requireLimit,
  resolveQuotas,
  resolveSettings,
  withCalendar,
  withLimits,
} from './common-options.js';
import { Comparer } from './comparer.js';
import { CostSuggester } from './cost-suggester.js';
import { UsageError } from './errors.js';
import { checkQuotas, parseQuota, parseShare, parseTop, parseWindow } from './parse-options.js';
import { describeComparison } from './report/describe-comparison.js';
import { describeSimulation } from './report/describe-simulation.js';
import { describeSuggestions } from './report/describe-suggestions.js';
import { toComparisonJson, toSimulationJson, toSuggestionsJson } from './report/json-report.js';
import { Simulator } from './simulator.js';
import { Suggester } from './suggester.js';
import { Totals } from './totals.js';
import { listOf } from './usage.js';

interface SimulateOptions extends LimitOptions {
  top: number;
}

export function simulateCommand(): Command {
  return withLimits(command('simulate'))
    .option('--top <number>', 'number of worst-hit callers to list', parseTop, 10)
    .addHelpText('after', SIMULATE_EXAMPLES)
    .action(async (paths: readonly string[], options: SimulateOptions) => {
      const { algorithm, top } = options;
      const quotas = resolveQuotas(options);
      const settings = resolveSettings(paths, options);
      const simulator = new Simulator(algorithm, quotas);
      await analyzeLogs(
        'simulate',
        settings,
        (entry) => simulator.add(entry),
        () => {
          const found = simulator.result(top);
          return {
            report: describeSimulation(algorithm, quotas, found, hasCosts(settings)),
            json: toSimulationJson(algorithm, quotas, found),
            windowsMs: quotas.map(({ windowMs }) => windowMs),
          };
        },
      );
    });
}

interface SuggestOptions extends CommonOptions {
  window?: readonly Span[];
  reject: number;
}

export function suggestCommand(): Command {
  return withCalendar(command('suggest'))
    .option(
      '--window <time>',
      'rolling window of the limit, or a period such as month (default: 1m); repeat it for several',
      listOf(parseWindow),
    )
    .addOption(
      new Option('--reject <share>', 'largest share of requests, and of callers, to reject')
        .argParser(parseShare)
        .default(parseShare('0.1%'), '0.1%'),
    )
    .addHelpText('after', SUGGEST_EXAMPLES)
    .action(async (paths: readonly string[], options: SuggestOptions) => {
      const { window = [{ windowMs: 60_000 }], reject } = options;
      const spans = inCalendar(window, options);
      const settings = resolveSettings(paths, options);
      const totals = new Totals();
      const createSuggester = (span: Span) => (hasCosts(settings) ? new CostSuggester(span) : new Suggester(span));
      const distinct = new Map(spans.map((span) => [JSON.stringify(span), span]));
      const suggesters = [...distinct.values()].map(createSuggester);
      await analyzeLogs(
        'suggest',
        settings,
        (entry) => {
          totals.add(entry);
          for (const suggester of suggesters) suggester.add(entry);
        },
        () => {
          const found = suggesters.map((suggester) => suggester.result(reject, (caller) => totals.requestsOf(caller)));
          return {
            report: describeSuggestions(reject, found, totals),
            json: toSuggestionsJson(reject, found, totals),
            windowsMs: spans.map(({ windowMs }) => windowMs),
          };
        },
      );
    });
}

interface CompareOptions extends CommonOptions {
  limit?: readonly NamedQuota[];
}

export function compareCommand(): Command {
  return withCalendar(command('compare'))
    .option('--limit <limit>', 'requests per window, such as 100/1m or 1000/month', listOf(parseQuota))
    .addHelpText('after', COMPARE_EXAMPLES)
    .action(async (paths: readonly string[], options: CompareOptions) => {
      const [quota, another, ...others] = inCalendar(requireLimit(options.limit), options);
      if (another !== undefined) throw new UsageError(`Expected one \`--limit\`, got ${others.length + 2}`);
      const settings = resolveSettings(paths, options);
      for (const algorithm of ALGORITHMS) checkQuotas(algorithm, [quota!]);
      const comparer = new Comparer(quota!);
      await analyzeLogs(
        'compare',
        settings,
        (entry) => comparer.add(entry),
        () => {
          const found = comparer.result();
          return {
            report: describeComparison(quota!, found),
            json: toComparisonJson(quota!, found),
            windowsMs: [quota!.windowMs],
          };
        },
      );
    });
}

const SIMULATE_EXAMPLES = `
Examples:
  rollgate simulate access.log --limit 100/1m
  rollgate simulate access.log --limit 100/1m,burst=10/1s --by path
  rollgate simulate access.log --limit 10/1s,1000/month --time-zone Europe/Berlin --anchor 15
  rollgate simulate access.log* --limit 1000/1h --algorithm token --json
  rollgate simulate app.jsonl --limit 500/1m --by tenant --cost units --time-field ts`;

const SUGGEST_EXAMPLES = `
Examples:
  rollgate suggest access.log --window 1m --reject 0.1%
  rollgate suggest access.log access.log.1.gz --window 1s --window 1h --html report.html`;

const COMPARE_EXAMPLES = `
Examples:
  rollgate compare access.log --limit 100/1m
  rollgate compare access.log --limit 100/1m --json`;

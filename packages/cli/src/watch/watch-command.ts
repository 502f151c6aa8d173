import type { Command } from 'commander';
import { ALGORITHMS, type Algorithm, type NamedQuota } from '../algorithms.js';
import { inCalendar } from '../calendar-span.js';
import {
  type CommonOptions,
  command,
  hasCosts,
  listOf,
  requireLimit,
  resolveSettings,
  withCalendar,
} from '../common-options.js';
import { STANDARD_INPUT } from '../log/log-name.js';
import { checkQuotas, parseAlgorithm, parseQuota } from '../parse-options.js';
import { escapeInvisible } from '../report/escape-invisible.js';
import { Simulator } from '../simulator.js';
import { createVerdictPrinter } from './verdict-printer.js';
import { watch } from './watch.js';

interface WatchOptions extends CommonOptions {
  limit?: readonly NamedQuota[];
  algorithm: Algorithm;
}

export function watchCommand(): Command {
  return withCalendar(command('watch', { isLive: true }))
    .option(
      '--limit <limits>',
      'requests per window, such as 100/1m, burst=10/1s or 1000/month; separate several by commas, or repeat the option',
      listOf(parseQuota),
    )
    .option('--algorithm <name>', `${ALGORITHMS.join(', ')}, or its name in the API`, parseAlgorithm, 'rolling')
    .addHelpText('after', EXAMPLES)
    .action(async (path: string = STANDARD_INPUT, options: WatchOptions) => {
      const quotas = inCalendar(requireLimit(options.limit), options);
      const settings = resolveSettings([path], { ...options, tolerance: 0 });
      checkQuotas(options.algorithm, quotas);
      const simulator = new Simulator(options.algorithm, quotas);
      const printVerdict = createVerdictPrinter(options.algorithm, quotas, {
        json: settings.json,
        hasCosts: hasCosts(settings),
        keySource: settings.selectors.keySource,
        forwarded: settings.forwarded,
        format: settings.format,
      });
      await watch(path, settings, {
        add: (entry) => simulator.add(entry),
        onIdle: (state) => printVerdict(simulator, state),
        onRestart: (reason) => process.stderr.write(`${escapeInvisible(reason)}\n`),
      });
    });
}

const EXAMPLES = `
Examples:
  rollgate watch access.log --limit 100/1m
  kubectl logs -f deploy/web | rollgate watch --limit 100/1m,10/1s --json`;

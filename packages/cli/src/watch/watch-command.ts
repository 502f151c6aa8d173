import type { Command } from 'commander';
import { command, type LimitOptions, resolveQuotas, resolveSettings, withLimits } from '../common-options.js';
import { STANDARD_INPUT } from '../log/log-name.js';
import { escapeInvisible } from '../report/escape-invisible.js';
import { Simulator } from '../simulator.js';
import { createVerdictPrinter } from './verdict-printer.js';
import { watch } from './watch.js';

export function watchCommand(): Command {
  return withLimits(command('watch', { isLive: true }))
    .addHelpText('after', EXAMPLES)
    .action(async (path: string = STANDARD_INPUT, options: LimitOptions) => {
      const quotas = resolveQuotas(options);
      const settings = resolveSettings([path], { ...options, tolerance: 0 });
      const simulator = new Simulator(options.algorithm, quotas);
      const printVerdict = createVerdictPrinter(options.algorithm, quotas, settings);
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

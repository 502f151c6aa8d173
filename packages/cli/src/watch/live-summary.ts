import type { Algorithm, NamedQuota } from '../algorithms.js';
import type { LogSummary } from '../log/log-summary.js';
import { describeSimulation } from '../report/describe-simulation.js';
import { escapeInvisible, escapeInvisibleJson } from '../report/escape-invisible.js';
import { formatQuota, formatTime } from '../report/format.js';
import { simulationJson } from '../report/json-report.js';
import { verdictFact } from '../report/report-parts.js';
import { detectTerminal } from '../report/terminal.js';
import { toText } from '../report/text-report.js';
import type { Simulation, Simulator } from '../simulator.js';

/** The callers that a terminal shows. */
const TOP = 5;
/** The least time between two updates, in milliseconds. */
const UPDATE_MS = 1000;

interface PrinterOptions {
  readonly json: boolean;
  readonly hasCosts: boolean;
}

/**
 * Creates the function that shows the current verdict: a block that is replaced on a terminal, otherwise one line for each
 * change.
 */
export function createVerdictPrinter(algorithm: Algorithm, quotas: readonly NamedQuota[], options: PrinterOptions) {
  const isTerminal = process.stdout.isTTY && !options.json;
  let [shownLines, shownCount, shownAt] = [0, 0, Number.NEGATIVE_INFINITY];
  return (simulator: Simulator, summary: LogSummary) => {
    const count = summary.lines;
    const isDue = performance.now() - shownAt >= UPDATE_MS || !isTerminal;
    if (count === shownCount || summary.requests === 0 || !isDue) return;
    [shownCount, shownAt] = [count, performance.now()];
    const found = simulator.result(TOP);
    if (!isTerminal) {
      process.stdout.write(options.json ? toJsonLine(algorithm, quotas, found) : toLine(algorithm, quotas, found));
      return;
    }
    const block = toText(
      { ...describeSimulation(algorithm, quotas, found, options.hasCosts), charts: [] },
      detectTerminal(),
    );
    // Moves up to the start of the block shown before, and clears the screen below.
    process.stdout.write(`${shownLines === 0 ? '' : `\u001b[${shownLines}A\u001b[J`}${block}`);
    shownLines = block.split('\n').length - 1;
  };
}

function toLine(algorithm: Algorithm, quotas: readonly NamedQuota[], found: Simulation): string {
  const limits = `${quotas.map(formatQuota).join(' and ')}${algorithm === 'rolling' ? '' : ` (${algorithm})`}`;
  return `${escapeInvisible(`${formatTime(found.lastMicros)} UTC: ${verdictFact(limits, found, found)}`)}\n`;
}

function toJsonLine(algorithm: Algorithm, quotas: readonly NamedQuota[], found: Simulation): string {
  const { timeline, ...json } = simulationJson(algorithm, quotas, found);
  return `${escapeInvisibleJson(JSON.stringify({ command: 'watch', ...json }))}\n`;
}

import type { Algorithm, NamedQuota } from '../algorithms.js';
import type { Settings } from '../analyze-logs.js';
import { createCallerWarnings } from '../caller-warnings.js';
import { hasCosts } from '../common-options.js';
import type { ReadState } from '../log/file-reader.js';
import type { LogSummary } from '../log/log-summary.js';
import { describeSimulation } from '../report/describe-simulation.js';
import { escapeInvisible, escapeInvisibleJson } from '../report/escape-invisible.js';
import { formatQuota, formatTime } from '../report/format.js';
import { toLogJson, toSimulationJson } from '../report/json-report.js';
import { describeVerdict } from '../report/report-parts.js';
import { detectTerminal } from '../report/terminal.js';
import { toText } from '../report/text-report.js';
import type { Simulation, Simulator } from '../simulator.js';
import { createLineWarnings } from '../warnings.js';

/** The callers that a terminal shows. */
const TOP = 5;
/** The least time between two updates, in milliseconds. */
const UPDATE_MS = 1000;

/**
 * Creates the function that shows the current verdict: a block that is replaced on a terminal, otherwise one line for each
 * change.
 */
export function createVerdictPrinter(algorithm: Algorithm, quotas: readonly NamedQuota[], settings: Settings) {
  const { json: isJson } = settings;
  const { keySource } = settings.selectors;
  const isTerminal = process.stdout.isTTY && !isJson;
  const printWarnings = createWarningPrinter();
  let [shownLines, shownCount, shownAt] = [0, 0, Number.NEGATIVE_INFINITY];
  return (simulator: Simulator, { summary, callers }: ReadState) => {
    // Otherwise, they are part of the block.
    if (!isTerminal || summary.requests === 0) printWarnings(summary);
    const count = summary.lines;
    const isDue = performance.now() - shownAt >= UPDATE_MS || !isTerminal;
    if (count === shownCount || summary.requests === 0 || !isDue) return;
    [shownCount, shownAt] = [count, performance.now()];
    const found = simulator.result(TOP);
    if (!isTerminal && !isJson) {
      process.stdout.write(toLine(algorithm, quotas, found));
      return;
    }
    const warnings = [...createLineWarnings(summary, 0), ...createCallerWarnings({ ...settings, keySource }, callers)];
    if (!isTerminal) {
      const common = toLogJson(summary, keySource, warnings);
      const { timeline, ...json } = toSimulationJson(algorithm, quotas, found);
      process.stdout.write(`${escapeInvisibleJson(JSON.stringify({ command: 'watch', ...common, ...json }))}\n`);
      return;
    }
    const report = describeSimulation(algorithm, quotas, found, hasCosts(settings));
    const facts = [...report.facts, ...warnings.map(({ text }) => `Warning: ${text}`)];
    const block = toText({ ...report, facts, charts: [] }, detectTerminal());
    // Moves up to the start of the block shown before, and clears the screen below.
    process.stdout.write(`${shownLines === 0 ? '' : `\u001b[${shownLines}A\u001b[J`}${block}`);
    shownLines = block.split('\n').length - 1;
  };
}

/** Creates the function that warns of lines that do not count on standard error, once for each reason. */
function createWarningPrinter(): (summary: LogSummary) => void {
  const printed = new Set<string>();
  return (summary) => {
    for (const { reason, text } of createLineWarnings(summary, 0)) {
      if (printed.has(reason)) continue;
      printed.add(reason);
      process.stderr.write(`${escapeInvisible(text)}\n`);
    }
  };
}

function toLine(algorithm: Algorithm, quotas: readonly NamedQuota[], found: Simulation): string {
  const limits = `${quotas.map(formatQuota).join(' and ')}${algorithm === 'rolling' ? '' : ` (${algorithm})`}`;
  return `${escapeInvisible(`${formatTime(found.lastMicros)} UTC: ${describeVerdict(limits, found, found)}`)}\n`;
}

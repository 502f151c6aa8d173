import { createCallerWarnings } from './caller-warnings.js';
import { LogError } from './errors.js';
import { ClientFinder, privateNetworks } from './log/client.js';
import type { Caller } from './log/entry.js';
import { FileReader, ReadState } from './log/file-reader.js';
import { RequestFilter } from './log/filter.js';
import type { CommonKeySource } from './log/request.js';
import { describeSuggestions } from './report/describe-suggestions.js';
import { Suggester } from './suggester.js';
import { Totals } from './totals.js';

/** The share of the requests that a suggested limit may reject, as `rollgate suggest` has it. */
const SHARE = 0.001;

/** What a page shows of a log. */
export interface LogFindings {
  /** What `rollgate suggest` reports: the verdict, the code and the heaviest caller. */
  readonly facts: readonly string[];
  /** The suggested limit. If one caller alone is the reason for a higher one, the limit without it. */
  readonly limit: number;
  /** When the requests of the heaviest caller came, in milliseconds since the first one. */
  readonly timesMs: readonly number[];
}

/**
 * Analyzes a log in a page, as `rollgate suggest` does in a terminal.
 *
 * @param kind What identifies a caller.
 * @throws LogError when the log contains no request.
 */
export async function analyzeLog(
  chunks: AsyncIterable<Uint8Array>,
  windowMs: number,
  kind: CommonKeySource,
): Promise<LogFindings> {
  const clients = new ClientFinder(privateNetworks);
  const keySource = { kind, field: undefined };
  const selectors = { keySource, time: undefined, cost: undefined, clients, needsTarget: false };
  const state = new ReadState({ format: undefined, selectors, ipv6Prefix: 56, filter: new RequestFilter({}) });
  // Two columns take a third of the memory of the entries.
  const times: number[] = [];
  const callers: Caller[] = [];
  const reader = new FileReader('log', state, ({ micros, caller }) => {
    times.push(micros);
    callers.push(caller);
  });
  for await (const chunk of chunks) reader.push(chunk as Buffer);
  reader.end();
  if (times.length === 0) throw new LogError(state.summary.explainEmpty(['log']));

  const order = Uint32Array.from(times.keys()).sort((one, other) => times[one]! - times[other]!);
  const suggester = new Suggester({ windowMs });
  const totals = new Totals();
  for (const index of order) {
    const request = { micros: times[index]!, caller: callers[index]! };
    suggester.add(request);
    totals.add(request);
  }
  const found = suggester.result(SHARE, (caller) => totals.requestsOf(caller));
  const { key, withoutIt } = found.heaviest;
  const own = Array.from(
    order.filter((index) => callers[index]!.key === key),
    (index) => times[index]! / 1000,
  );
  return {
    facts: [
      ...describeSuggestions(SHARE, [found], totals).facts,
      ...createCallerWarnings({ keySource, forwarded: clients.counts, format: undefined }, state.callers).map(
        ({ text }) => text,
      ),
    ],
    limit: Math.min(found.forRequests.limit, withoutIt?.limit ?? Infinity),
    timesMs: own.map((ms) => Math.round(ms - own[0]!)),
  };
}

import { type Costs, neverAllowed, toDecision, tooManyWaiting } from '@rollgate/core/store';
import { ScriptReply } from '../script/script-reply.js';
import type { AskLead } from './ask-lead.js';
import type { Ticket, Turn } from './ticket.js';
import type { TicketGroup } from './ticket-group.js';
import type { TicketItem } from './ticket-items.js';

/**
 * Reads a turn that a script has granted at `nowMicros` of the clock that decides. Its result is that of a check at its stamp.
 *
 * @param hasClock Whether a clock was injected. Only then, the time of the start differs from the stamp.
 */
export function readTurn(
  { at, stamp, result }: TicketItem & { kind: 'granted' },
  { encodedPlan, ruleKeys: keys }: TicketGroup,
  costs: Costs,
  nowMicros: number,
  hasClock: boolean,
): Turn {
  const micros = stamp % 1e6;
  const reply = new ScriptReply(`${(stamp - micros) / 1e6} ${micros}\n${result}`, 1);
  reply.nextError();
  const { limitDecisions, receipt } = reply.readResult({
    kind: 'check',
    ...{ encodedPlan, keys, costs, clockMicros: hasClock ? at : undefined },
    resolve() {},
    reject() {},
  });
  const decision = toDecision(encodedPlan.plan.rules, limitDecisions, receipt, costs);
  return { decision, receipt, madeMs: nowMicros / 1000, startMs: at / 1000 + decision.delayMs };
}

/** What a script reports about the place of a ticket. */
export type PlaceItem = Exclude<TicketItem, { readonly kind: 'granted' | 'full' | 'neverAllowed' }>;

/**
 * Notes the place of a ticket that waits, and when to ask for its turn. The report has arrived at `receivedMs`. Returns how long the
 * ticket waits at least, in microseconds.
 */
export function notePlace(
  ticket: Ticket,
  item: PlaceItem,
  group: TicketGroup,
  lead: AskLead,
  receivedMs: number,
): number {
  if (item.kind === 'missing') {
    ticket.missingSinceMs ??= receivedMs;
    return 0;
  }
  if (item.kind === 'first') {
    const wait = group.waitOf(item);
    ticket.dueMs = receivedMs + wait / 1000;
    ticket.askMs = ticket.dueMs - lead.leadMs(group.horizonMicros);
    return wait;
  }
  ticket.number = item.number;
  ticket.hasFailed = false;
  ticket.dueMs = receivedMs + item.wait / 1000;
  return item.least;
}

/** The error of a ticket that a script has not let into its queues. */
export function rejectionOf({ call }: Ticket, kind: 'full' | 'neverAllowed'): Error {
  return kind === 'full' ? tooManyWaiting(call.maxWaiting) : neverAllowed();
}

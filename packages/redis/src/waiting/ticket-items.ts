import { type Costs, toDecision } from '@rollgate/core/store';
import { ScriptReply } from '../script/script-reply.js';
import type { Turn } from './ticket.js';
import type { TicketGroup } from './ticket-group.js';

/** What a script reports to the owner of a ticket. `lua/queues/tickets.lua` describes the items. All times are microseconds. */
export type TicketItem = { readonly id: number } & (
  | { readonly kind: 'granted'; readonly at: number; readonly stamp: number; readonly result: string }
  | {
      readonly kind: 'first';
      readonly wait: number;
      /** The settings of the limit that lets it wait, if no others are known. */
      readonly settings: number;
    }
  | {
      readonly kind: 'queued';
      readonly number: number;
      readonly wait: number;
      /** How long it waits at least, because callers ahead may let it pass. */
      readonly least: number;
    }
  | { readonly kind: 'missing' | 'full' | 'neverAllowed' }
);

const KINDS = ['', 'granted', 'first', 'queued', 'missing', 'full', 'neverAllowed', 'more'] as const;

type NumbersOfItem = [code: number, id: number, first: number, second: number, third: number];

/** Reads a reply or a message: the time of the decisions, the items, and whether the script has left work that belongs to no ticket. */
export function parseTicketItems(text: string) {
  const [now, ...parts] = text.split(',');
  const items: TicketItem[] = [];
  let hasMore = false;
  for (let index = 0; index < parts.length; index++) {
    const [code, id, first, second, third] = parts[index]!.split(' ').map(Number) as NumbersOfItem;
    const kind = KINDS[code];
    if (kind === 'granted') {
      const result = parts.slice(index + 1, index + 1 + third).join(',');
      items.push({ kind, id, at: first, stamp: second, result });
      index += third;
    } else if (kind === 'first') items.push({ kind, id, wait: first, settings: second });
    else if (kind === 'queued') items.push({ kind, id, number: first, wait: second, least: third });
    else if (kind === 'more') hasMore = true;
    else if (kind) items.push({ kind, id });
  }
  return { now: Number(now), items, hasMore };
}

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

import { type Costs, toDecision } from '@rollgate/core/store';
import { ScriptReply } from '../script/script-reply.js';
import type { Turn } from './ticket.js';
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

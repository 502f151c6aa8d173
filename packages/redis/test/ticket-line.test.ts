import type { StoreWait } from '@rollgate/core/store';
import { AskLead } from '../src/waiting/ask-lead.js';
import type { Room } from '../src/waiting/room.js';
import { Ticket, type Turn } from '../src/waiting/ticket.js';
import type { TicketGroup } from '../src/waiting/ticket-group.js';
import { TicketLine } from '../src/waiting/ticket-line.js';

test('a caller that was too late for its turn reads news from before it, because the clock of the server was set back', () => {
  const sent: string[] = [];
  const room: Partial<Room> = {
    ...{ leaseMs: 5000, hasClock: false, getsMessages: true, lead: new AskLead() },
    nowMs: () => 0,
    after: () => () => {},
    drop() {},
    caller: () => ({ nowMicros: undefined, owner: 'owner', contact: 1, leaseMs: 5000 }),
    send: ({ encoding }) => void sent.push(encoding.kind),
  };
  const group: Partial<TicketGroup> = {
    ...{ id: 'group', horizonMicros: 25_000, isEstimate: true, canDelay: false, keys: [] },
    encode: (kind) => ({ kind, parts: 0, plan: '', input: '' }),
    costsText: () => '1',
  };
  const ticket = new Ticket(1, { maxWaiting: Infinity } as StoreWait, 1);
  const line = new TicketLine(group as TicketGroup, room as Room);
  line.enter(ticket);
  ticket.grantedMicros = 10e6;
  ticket.grant({} as Turn);
  line.remove(ticket);
  ticket.waitAgain();
  line.enter(ticket);
  line.accept(ticket, { kind: 'queued', id: 1, number: 7, wait: 2e6, least: 2e6 }, 7e6, 0);
  expect([ticket.number, ticket.dueMs]).toEqual([7, 2000]);
  expect(sent).toEqual(['enter', 'enter']);
});

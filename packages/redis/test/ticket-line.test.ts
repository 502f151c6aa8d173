import type { StoreWait } from '@rollgate/core/store';
import { AskLead } from '../src/waiting/ask-lead.js';
import type { Room } from '../src/waiting/room.js';
import { Ticket, type Turn } from '../src/waiting/ticket.js';
import type { TicketGroup } from '../src/waiting/ticket-group.js';
import { TicketLine } from '../src/waiting/ticket-line.js';

/** A line whose room collects what it sends, and how long its timers run. */
function createLine() {
  const sent: string[] = [];
  const delaysMs: number[] = [];
  const room: Partial<Room> = {
    ...{ leaseMs: 5000, hasClock: false, getsMessages: true, lead: new AskLead() },
    nowMs: () => 0,
    after(delayMs) {
      delaysMs.push(delayMs);
      return () => {};
    },
    drop() {},
    caller: () => ({ nowMicros: undefined, owner: 'owner', contact: 1, leaseMs: 5000 }),
    send: ({ encoding }) => void sent.push(encoding.kind),
  };
  const group: Partial<TicketGroup> = {
    ...{ id: 'group', horizonMicros: 25_000, isEstimate: true, keys: [] },
    encode: (kind) => ({ kind, parts: 0, plan: '', input: '' }),
    costsText: () => '1',
    waitOf: ({ wait }) => wait,
  };
  return { line: new TicketLine(group as TicketGroup, room as Room), sent, delaysMs };
}

const createTicket = (id: number) => new Ticket(id, { maxWaiting: Infinity } as StoreWait, 1);

test('a caller that was too late for its turn reads news from before it, because the clock of the server was set back', () => {
  const { line, sent } = createLine();
  const ticket = createTicket(1);
  line.enter(ticket);
  ticket.grantedMicros = 10e6;
  ticket.grant({} as Turn);
  line.remove(ticket);
  ticket.waitAgain();
  line.restore(ticket);
  line.accept(ticket, { kind: 'queued', id: 1, number: 7, wait: 2e6, least: 2e6 }, 7e6, 0);
  expect([ticket.number, ticket.dueMs]).toEqual([7, 2000]);
  expect(sent).toEqual(['enter', 'restore']);
});

test('a process does not ask for the turn of a caller before that of the one ahead', () => {
  const { line, delaysMs } = createLine();
  const [first, second] = [createTicket(1), createTicket(2)];
  for (const ticket of [first, second]) line.enter(ticket);
  // The second one has arrived when less was known about the first one.
  line.accept(second, { kind: 'queued', id: 2, number: 8, wait: 150_000, least: 150_000 }, 7e6, 0);
  line.accept(first, { kind: 'first', id: 1, wait: 250_000, settings: 0 }, 7e6, 0);
  expect(delaysMs.at(-1)).toBe(246);
});

import { parseTicketItems } from '../../src/waiting/ticket-items.js';
import type { ModelOperations } from './model-operations.js';
import { type CallerState, type ModelState, NEVER, START, TICK } from './model-state.js';
import type { Scope } from './scope.js';
import type { Outcome } from './script-runner.js';

/** A turn in a reply or a message: whose it is, its time, and when it was granted. */
interface FoundTurn {
  readonly index: number;
  readonly at: number;
  readonly now: number;
}

/** Reads replies and messages as the processes do, and finds turns that break a guarantee. */
export class ModelReceiver {
  /** The first guarantee that a transition has broken. */
  problem: string | undefined;
  readonly #scope: Scope;
  readonly #operations: ModelOperations;

  constructor(scope: Scope, operations: ModelOperations) {
    this.#scope = scope;
    this.#operations = operations;
  }

  /** Applies what a script has left and returned. Without an index, nobody reads the reply. */
  receive(state: ModelState, index: number | undefined, { reply, dumps, places, messages }: Outcome): void {
    state.dumps = [...dumps];
    if (reply.startsWith('error')) this.problem ??= reply;
    const sent = messages.map(([owner, text]): [number, string] => [Number(owner.slice(1)), text]);
    state.messages.push(...sent);
    // Turns of one call, in no order.
    const lines = index === undefined ? [] : reply.split('\n').slice(1);
    const turns = [...sent.map(([, text]) => text), ...lines].flatMap((text) => this.#turnsIn(text));
    for (const turn of turns) this.#noteTurn(state, turn, turns);
    state.places = [...places];
    for (const line of lines) {
      if (line === '!') this.problem ??= 'an operation failed';
      if (/^\d+(,|$)/.test(line)) this.accept(state, line);
    }
  }

  /** Applies the items of a reply or a message. */
  accept(state: ModelState, text: string): void {
    for (const item of parseTicketItems(text).items) {
      const index = item.id - 1;
      const caller = state.callers[index]!;
      if (caller.status === 'gone') continue;
      if (item.kind === 'granted') {
        const at = Math.round((item.at - START) / TICK);
        if (this.#isRepeated(caller, `${item.at} ${item.stamp}`)) continue;
        if (caller.status !== 'waits') state.unused.push([index, at, item.stamp]);
        else
          Object.assign(caller, {
            status: 'hasTurn',
            at,
            stamp: item.stamp,
            isMissing: false,
            askAt: NEVER,
            number: caller.number || item.stamp,
          });
      } else if (caller.status !== 'waits') caller.owesLeave ||= 'wait' in item;
      else if (item.kind === 'queued') caller.number = item.number;
      else if (item.kind === 'missing') caller.isMissing = true;
      else if (item.kind === 'first')
        caller.askAt = state.tick + Math.max(0, Math.round(item.wait / TICK) - this.#scope.horizon);
    }
  }

  #turnsIn(text: string): FoundTurn[] {
    if (!/^\d{16},/.test(text)) return [];
    const { now, items } = parseTicketItems(text);
    return items.flatMap((item) => (item.kind === 'granted' ? [{ index: item.id - 1, at: item.at, now }] : []));
  }

  /** A turn must not be that of a caller behind another one in the same queue. */
  #noteTurn(state: ModelState, { index, at, now }: FoundTurn, turns: readonly FoundTurn[]): void {
    if (at > now + this.#scope.horizon * TICK) this.problem ??= 'a turn is too far ahead';
    if (this.#scope.hasFaults || state.isReordered) return;
    // A turn that comes at the arrival is behind all that wait then.
    const number = state.callers[index]!.number || Infinity;
    const costs = this.#scope.costs[index]!;
    const isBehind = state.callers.some((other, place) => {
      const shares = costs.some((cost, rule) => cost > 0 && this.#holds(state, place, rule));
      const told = [...turns, ...state.messages.flatMap(([, message]) => this.#turnsIn(message))];
      const hasTurn = told.some((turn) => turn.index === place);
      return other.status === 'waits' && shares && number > other.number && other.number > 0 && !hasTurn;
    });
    if (isBehind) this.problem ??= 'a caller was overtaken';
  }

  /** Whether the ticket of a caller is in the queue of a rule. */
  #holds({ places }: ModelState, index: number, rule: number): boolean {
    return places[this.#operations.keys.length + rule]!.split(' ').includes(String(index + 1));
  }

  /** A turn that is read a second time must not be refunded, because its action may start. */
  #isRepeated({ seen }: CallerState, turn: string): boolean {
    if (!this.#scope.repeatedMessages) return false;
    const isRepeated = seen.includes(turn);
    if (!isRepeated) seen.push(turn);
    return isRepeated;
  }
}

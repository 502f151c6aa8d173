import { parseTicketItems } from '../../src/waiting/ticket-items.js';
import { AssignedStarts, type FoundTurn } from './assigned-starts.js';
import type { ModelOperations } from './model-operations.js';
import { type CallerState, type ModelState, NEVER, TICK } from './model-state.js';
import type { Scope } from './scope.js';
import type { Outcome } from './script-runner.js';

/** Reads replies and messages as the processes do, and finds turns that break a guarantee. */
export class ModelReceiver {
  /** The first guarantee that a transition has broken. */
  problem: string | undefined;
  readonly #assigned: AssignedStarts;

  constructor(
    private readonly scope: Scope,
    private readonly operations: ModelOperations,
  ) {
    this.#assigned = new AssignedStarts(scope);
  }

  /**
   * Applies what a script has left and returned. Without an index, nobody reads the reply.
   *
   * @param late The caller at this index, if it was too late for its turn.
   */
  receive(state: ModelState, index: number | undefined, outcome: Outcome, late?: CallerState): void {
    const { reply, dumps, places, messages } = outcome;
    state.dumps = [...dumps];
    if (reply.startsWith('error')) this.problem ??= reply;
    const sent = messages.map(([owner, text]): [number, string] => [Number(owner.slice(1)), text]);
    // Turns of one call, in no order.
    const lines = index === undefined ? [] : reply.split('\n').slice(1);
    const turns = [...sent.map(([, text]) => text), ...lines].flatMap((text) => this.#turnsIn(text));
    if (turns.length > 0 && this.scope.intervals) this.#noteStarts(state, turns, index, late);
    state.messages.push(...sent);
    for (const turn of turns) this.#noteTurn(state, turn, turns);
    state.places = [...places];
    for (const line of lines) {
      if (line === '!') this.problem ??= 'an operation failed';
      if (/^\d+(,|$)/.test(line)) this.accept(state, line);
    }
  }

  /** Applies the items of a reply or a message. */
  accept(state: ModelState, text: string): void {
    const { now, items } = parseTicketItems(text);
    for (const item of items) {
      const index = item.id - 1;
      const caller = state.callers[index]!;
      if (caller.status === 'gone') continue;
      if (item.kind === 'granted') {
        if (this.#isRepeated(caller, `${item.at} ${item.stamp}`)) continue;
        const turn = this.#read(index, item, now);
        if (turn === undefined) continue;
        if (caller.status !== 'waits') state.unused.push([index, turn.stamp, [...turn.hits]]);
        else {
          const number = caller.number || item.stamp;
          Object.assign(caller, { status: 'hasTurn', ...turn, isMissing: false, askAt: NEVER, number });
        }
      } else if (caller.status !== 'waits') caller.owesLeave ||= 'wait' in item;
      else if (item.kind === 'queued') caller.number = item.number;
      else if (item.kind === 'missing') caller.isMissing = true;
      else if (item.kind === 'first') caller.askAt = this.#askTime(state.tick, item.wait);
    }
  }

  /** Without a horizon, asking a microsecond early is in vain. */
  #askTime(tick: number, waitMicros: number): number {
    const { horizon } = this.scope;
    return tick + (horizon > 0 ? Math.max(0, Math.round(waitMicros / TICK) - horizon) : Math.ceil(waitMicros / TICK));
  }

  #turnsIn(text: string): FoundTurn[] {
    if (!/^\d{16},/.test(text)) return [];
    const { now, items } = parseTicketItems(text);
    return items.flatMap((item) => {
      const index = item.id - 1;
      const turn = item.kind === 'granted' ? this.#read(index, item, now) : undefined;
      return turn ? [{ index, now, ...turn }] : [];
    });
  }

  #read(...turn: Parameters<ModelOperations['read']>): ReturnType<ModelOperations['read']> | undefined {
    try {
      return this.operations.read(...turn);
    } catch (error) {
      this.problem ??= String(error);
      return undefined;
    }
  }

  #noteStarts(
    state: ModelState,
    turns: readonly FoundTurn[],
    index: number | undefined,
    late: CallerState | undefined,
  ): void {
    const ofCallers = state.callers.flatMap(({ at, stamp, hits }, caller) =>
      hits.length > 0 && at >= 0 ? [{ index: caller, now: 0, stamp, hits }] : [],
    );
    const unused = state.unused.map(([caller, stamp, hits]) => ({ index: caller, now: 0, stamp, hits }));
    // A message that may arrive once more contains a turn that was read.
    const isRead = ({ index: caller, stamp }: FoundTurn) => state.callers[caller]!.seen.includes(`${stamp} ${stamp}`);
    const inMessages = state.messages.flatMap(([, text]) => this.#turnsIn(text).filter((turn) => !isRead(turn)));
    this.problem ??= this.#assigned.findProblem(state, turns, [...ofCallers, ...unused, ...inMessages]);
    if (late && this.#assigned.hasLostStart(state, index!, late, turns)) {
      this.problem ??= 'a late caller has lost a start that was free';
    }
  }

  /** A turn must not be that of a caller behind another one in the same queue. */
  #noteTurn(state: ModelState, { index, stamp, now }: FoundTurn, turns: readonly FoundTurn[]): void {
    if (stamp > now + this.scope.horizon * TICK) this.problem ??= 'a turn is too far ahead';
    if (this.scope.hasFaults || state.isReordered) return;
    // A turn that comes at the arrival is behind all that wait then.
    const number = state.callers[index]!.number || Infinity;
    const costs = this.scope.costs[index]!;
    const isBehind = state.callers.some((other, place) => {
      const shares = costs.some((cost, rule) => cost > 0 && this.#holds(state, place, rule));
      const reported = [...turns, ...state.messages.flatMap(([, message]) => this.#turnsIn(message))];
      const hasTurn = reported.some((turn) => turn.index === place);
      return other.status === 'waits' && shares && number > other.number && other.number > 0 && !hasTurn;
    });
    if (isBehind) this.problem ??= 'a caller was overtaken';
  }

  /** Whether the ticket of a caller is in the queue of a rule. */
  #holds({ places }: ModelState, index: number, rule: number): boolean {
    return places[this.operations.keys.length + rule]!.split(' ').includes(String(index + 1));
  }

  /** A turn that is read a second time must not be refunded, because its action may start. */
  #isRepeated({ seen }: CallerState, turn: string): boolean {
    if (!this.scope.repeatedMessages) return false;
    const isRepeated = seen.includes(turn);
    if (!isRepeated) seen.push(turn);
    return isRepeated;
  }
}

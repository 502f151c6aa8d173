import { type Limit, rollingWindow } from '@rollgate/core';
import type { Operation, TicketOperation } from '../../src/operations/operations.js';
import { PlanEncoder } from '../../src/operations/plan-encoder.js';
import { Receipt } from '../../src/operations/receipt.js';
import { type Caller, TicketGroup } from '../../src/waiting/ticket-group.js';
import { parseTicketItems } from '../../src/waiting/ticket-items.js';
import { type BinaryRedis, type Defect, type Outcome, ScriptRunner, type Step } from './script-runner.js';

/** Times are ticks. */
export interface Scope {
  readonly limit: number;
  readonly window: number;
  readonly horizon: number;
  readonly lease: number;
  readonly lastTick: number;
  /** The last tick at which a caller arrives. */
  readonly lastArrival: number;
  /** For each caller, which is a process of its own, its cost for each limit. */
  readonly costs: readonly (readonly number[])[];
  /** Whether messages may be lost and late, and processes may be stopped at any time. */
  readonly hasFaults: boolean;
  readonly crashes?: number;
  readonly aborts?: number;
  readonly refunds?: number;
  /** Plain checks of one unit of all limits: behind the callers, or by a limiter that knows no queues. */
  readonly checks?: number;
  readonly overtakingChecks?: number;
  /** Whether the server knows who receives messages. */
  readonly countsReceivers?: boolean;
  /** Whether owners receive messages at all. */
  readonly getsMessages?: boolean;
  readonly mayStartLate?: boolean;
}

type Status = 'idle' | 'waits' | 'hasTurn' | 'started' | 'gone';

interface Caller_ {
  status: Status;
  number: number;
  /** The tick of its start, and the stamp of its turn. */
  at: number;
  stamp: number;
  isMissing: boolean;
  /** When it asks as the first one, in order runs. */
  askAt: number;
}

export interface ModelState {
  tick: number;
  dumps: string[];
  /** The owners of the tickets in each queue. */
  places: string[];
  callers: Caller_[];
  messages: [index: number, text: string][];
  /** Turns that nobody uses, which will be refunded. */
  unused: [index: number, at: number, stamp: number][];
  /** What has started: the tick and the costs. */
  starts: [tick: number, costs: number[]][];
  crashes: number;
  aborts: number;
  refunds: number;
  checks: number;
  overtakingChecks: number;
  /** Whether a ticket got its place back, so that the order is not that of the numbers. */
  isReordered: boolean;
}

/** A choice of the model: the operations of a script call, or `undefined` for none, and what follows from the outcome. */
export interface Choice {
  readonly operations?: readonly Operation[];
  apply(state: ModelState, outcome: Outcome | undefined): void;
}

const TICK = 10_000;
const START = 1e15;
const NEVER = 1e6;

/** Queues of callers in several processes, as `lua/queues` implements them. */
export class QueueModel {
  readonly scope: Scope;
  readonly runner: ScriptRunner;
  readonly #encodedPlan;
  readonly #keys: readonly string[];
  readonly #groups: readonly TicketGroup[];
  readonly #checks: TicketGroup;
  readonly initial: ModelState;
  /** The first guarantee that a transition has broken. */
  problem: string | undefined;

  constructor(redis: BinaryRedis, scope: Scope, defect?: Defect) {
    this.scope = scope;
    const limit = rollingWindow({ limit: scope.limit, window: `${scope.window * 10}ms` }) as Limit;
    const rules = scope.costs[0]!.map((_, index) => ({ name: `limit${index}`, namespace: '', limit }));
    const plan = { prefix: 'model', rules, leasing: undefined } as never;
    this.#encodedPlan = new PlanEncoder(undefined).encode(plan);
    this.#keys = this.#encodedPlan.buildKeys('k');
    const horizon = { horizonMicros: scope.horizon * TICK, canDateLogs: true };
    const group = (costs: readonly number[]) => new TicketGroup(this.#encodedPlan, this.#keys, costs, horizon);
    this.#groups = scope.costs.map(group);
    this.#checks = group(rules.map(() => 1));
    this.runner = new ScriptRunner(redis, this.#checks.keys, defect);
    const { crashes = 0, aborts = 0, refunds = 0, checks = 0, overtakingChecks = 0 } = scope;
    this.initial = {
      tick: 0,
      dumps: this.#checks.keys.map(() => ''),
      places: this.#checks.keys.map(() => ''),
      callers: scope.costs.map(() => ({ status: 'idle', number: 0, at: 0, stamp: 0, isMissing: false, askAt: NEVER })),
      messages: [],
      unused: [],
      starts: [],
      ...{ crashes, aborts, refunds, checks, overtakingChecks },
      isReordered: false,
    };
  }

  toStep(state: ModelState, operations: readonly Operation[]): Step {
    const subscribed = state.callers.flatMap(({ status }, index) => (status === 'gone' ? [] : [`o${index}`]));
    return { nowMicros: START + state.tick * TICK, dumps: state.dumps, subscribed, operations };
  }

  /** Everything that may happen next. With `isFair`, only what a schedule without faults does now. */
  choices(state: ModelState): Choice[] {
    const { hasFaults } = this.scope;
    const choices: Choice[] = [];
    let isUrgent = false;
    for (const [index, caller] of state.callers.entries()) {
      const { status, at } = caller;
      if (status === 'idle' && state.tick <= this.scope.lastArrival) choices.push(this.enter(index));
      if (status === 'waits' && (hasFaults || caller.askAt <= state.tick)) {
        isUrgent ||= !hasFaults;
        choices.push(this.sync(state, index));
      }
      if (status === 'waits' && caller.isMissing) choices.push(this.reenter(state, index));
      if (status === 'hasTurn' && (at === state.tick || (this.scope.mayStartLate && at < state.tick))) {
        isUrgent = true;
        choices.push(this.start(index));
      } else if (status === 'hasTurn' && at < state.tick) choices.push(this.reenter(state, index));
      const isOpen = status === 'waits' || status === 'hasTurn';
      if (isOpen && state.aborts > 0) choices.push(this.#abort(state, index));
      if (isOpen && state.crashes > 0) choices.push(this.#crash(index));
      if (status === 'started' && state.refunds > 0 && at > state.tick - this.scope.window) {
        choices.push(this.#refund(index, caller));
      }
    }
    for (const place of state.messages.keys()) {
      isUrgent ||= !hasFaults;
      choices.push(this.deliver(place));
      if (hasFaults) choices.push({ apply: ({ messages }) => void messages.splice(place, 1) });
    }
    for (const place of state.unused.keys()) choices.push(this.refundUnused(state, place));
    if (state.checks > 0)
      choices.push(
        this.#check('checks', this.#checks.encode('tail', this.#caller(99), [this.#keys.map(() => 1).join(' ')])),
      );
    if (state.overtakingChecks > 0) choices.push(this.#check('overtakingChecks', undefined));
    if (state.tick < this.scope.lastTick && (hasFaults || !isUrgent))
      choices.push({ apply: (next) => this.pass(next) });
    return choices;
  }

  /** A tick passes. Forgets what no longer matters. */
  pass(state: ModelState): void {
    state.tick += 1;
    const start = state.tick - this.scope.window;
    state.starts = state.starts.filter(([tick]) => tick > start);
    for (const caller of state.callers) {
      if (caller.status === 'started' && caller.at <= start) Object.assign(caller, { at: -1, stamp: 0, number: 0 });
    }
  }

  enter(index: number): Choice {
    const operation = this.#ticket(index, 'enter', [index + 1, 0, -1, this.#costs(index)]);
    return {
      operations: [operation],
      apply: (state, outcome) => {
        state.callers[index]!.status = 'waits';
        this.#receive(state, index, outcome!);
      },
    };
  }

  sync(state: ModelState, index: number): Choice {
    const { number } = state.callers[index]!;
    return {
      operations: [this.#ticket(index, 'sync', [index + 1, number, this.#costs(index)])],
      apply: (next, outcome) => {
        next.callers[index]!.askAt = NEVER;
        this.#receive(next, index, outcome!);
      },
    };
  }

  /** Gets its old place, and refunds its turn if it was too late for it. */
  reenter(state: ModelState, index: number): Choice {
    const { status, number, at, stamp } = state.callers[index]!;
    const operations: Operation[] = [this.#ticket(index, 'enter', [index + 1, number, -1, this.#costs(index)])];
    if (status === 'hasTurn') operations.push(...this.#refunding(index, at, stamp));
    return {
      operations,
      apply: (next, outcome) => {
        Object.assign(next.callers[index]!, { status: 'waits', at: 0, stamp: 0, isMissing: false, askAt: NEVER });
        next.isReordered = true;
        this.#receive(next, index, outcome!);
      },
    };
  }

  start(index: number): Choice {
    return {
      apply: (state) => {
        const caller = state.callers[index]!;
        caller.status = 'started';
        caller.at = state.tick;
        state.starts.push([state.tick, [...this.scope.costs[index]!]]);
      },
    };
  }

  deliver(place: number): Choice {
    return {
      apply: (state) => {
        const [[index, text]] = state.messages.splice(place, 1) as [[number, string]];
        if (state.callers[index]!.status !== 'gone') this.#accept(state, index, text);
      },
    };
  }

  refundUnused(state: ModelState, place: number): Choice {
    const [index, at, stamp] = state.unused[place]!;
    return {
      operations: this.#refunding(index, at, stamp),
      apply: (next, outcome) => {
        next.unused.splice(place, 1);
        this.#receive(next, index, outcome!);
      },
    };
  }

  #abort(state: ModelState, index: number): Choice {
    const { status, at, stamp } = state.callers[index]!;
    const leave = this.#ticket(index, 'leave', [index + 1, this.#costs(index)]);
    return {
      operations: status === 'hasTurn' ? this.#refunding(index, at, stamp) : [leave],
      apply: (next, outcome) => {
        next.aborts -= 1;
        // It still receives messages, and refunds a turn that comes late.
        Object.assign(next.callers[index]!, { status: 'started', at: -1, stamp: 0, isMissing: false, askAt: NEVER });
        this.#receive(next, index, outcome!);
      },
    };
  }

  #crash(index: number): Choice {
    return {
      apply: (state) => {
        state.crashes -= 1;
        Object.assign(state.callers[index]!, { status: 'gone', at: -1, stamp: 0, isMissing: false, askAt: NEVER });
        state.unused = state.unused.filter(([owner]) => owner !== index);
      },
    };
  }

  #refund(index: number, { at, stamp }: Caller_): Choice {
    return {
      operations: this.#refunding(index, Math.round((stamp - START) / TICK), stamp),
      apply: (state, outcome) => {
        state.refunds -= 1;
        const costs = JSON.stringify(this.scope.costs[index]);
        state.starts.splice(
          state.starts.findIndex(([tick, own]) => tick === at && JSON.stringify(own) === costs),
          1,
        );
        state.callers[index]!.at = -1;
        this.#receive(state, index, outcome!);
      },
    };
  }

  #check(counter: 'checks' | 'overtakingChecks', encoding: ReturnType<TicketGroup['encode']> | undefined): Choice {
    const keys = encoding === undefined ? this.#keys : this.#checks.keys;
    const operation: Operation = {
      kind: 'check',
      ...{ encodedPlan: this.#encodedPlan, keys, costs: 1, clockMicros: undefined, encoding },
      resolve() {},
      reject() {},
    };
    return {
      operations: [operation],
      apply: (state, outcome) => {
        state[counter] -= 1;
        this.#receive(state, -1, outcome!);
        const line = outcome!.reply.split('\n')[1]!;
        if (!line.startsWith('-') && !/(^|,)-|^0 0 \d+ \d+ \d+(,|$)/.test(line)) {
          const isBehind = state.callers.some(({ status, number }) => status === 'waits' && number > 0);
          const isOrdered = counter === 'checks' && !this.scope.hasFaults && !state.isReordered;
          if (isOrdered && isBehind && state.messages.length === 0) this.problem ??= 'a check overtook a caller';
          state.starts.push([state.tick, this.#keys.map(() => 1)]);
        }
      },
    };
  }

  #caller(index: number): Caller {
    const { countsReceivers = false, getsMessages = true } = this.scope;
    const contact = !getsMessages ? 0 : countsReceivers ? 1 : 2;
    return { nowMicros: undefined, owner: `o${index}`, contact, leaseMs: this.scope.lease * 10 };
  }

  #costs(index: number): string {
    return this.scope.costs[index]!.join(' ');
  }

  #ticket(index: number, kind: string, rest: readonly unknown[]): TicketOperation {
    const group = this.#groups[index]!;
    const encoding = group.encode(kind, this.#caller(index), rest);
    return { kind: 'ticket', encodedPlan: this.#encodedPlan, keys: group.keys, encoding, resolve() {}, reject() {} };
  }

  /** A settlement with a cost of 0, and what wakes the queues. */
  #refunding(index: number, at: number, stamp: number): Operation[] {
    const atMicros = START + at * TICK;
    const costs = this.scope.costs[index]!;
    const hits = this.#keys.map((key, rule) => ({
      key,
      index: rule,
      atMicros: costs[rule]! > 0 ? atMicros : 0,
      cost: costs[rule]!,
    }));
    const charged = hits.filter(({ cost }) => cost > 0).map((hit) => ({ ...hit, settledCost: 0 }));
    const receipt = new Receipt(stamp, atMicros, this.#encodedPlan, hits);
    return [
      {
        kind: 'settle',
        ...{ keys: charged.map(({ key }) => key), number: false, receipt, hits: charged, clockMicros: undefined },
        resolve() {},
        reject() {},
      },
      this.#ticket(index, 'wake', []),
    ];
  }

  /** Applies what a script has left and returned. */
  #receive(state: ModelState, index: number, { reply, dumps, places, messages }: Outcome): void {
    state.dumps = [...dumps];
    if (reply.startsWith('error')) this.problem ??= reply;
    const sent = messages.map(([owner, text]): [number, string] => [Number(owner.slice(1)), text]);
    state.messages.push(...sent);
    // Turns of one call, in no order.
    const lines = index < 0 ? [] : reply.split('\n').slice(1);
    const all = [...sent, ...lines.map((line): [number, string] => [index, line])];
    const withTurn = new Set(all.filter(([, text]) => this.#findTurn(text)).map(([owner]) => owner));
    for (const [owner, text] of all) this.#noteTurn(state, owner, text, withTurn);
    state.places = [...places];
    if (index < 0) return;
    for (const line of reply.split('\n').slice(1)) {
      if (line === '!') this.problem ??= 'an operation failed';
      if (!/^\d+(,|$)/.test(line)) continue;
      if (state.callers[index]!.status !== 'gone') this.#accept(state, index, line);
    }
  }

  #findTurn(text: string): { readonly at: number; readonly now: number } | undefined {
    if (!/^\d{16},/.test(text)) return undefined;
    const { now, items } = parseTicketItems(text, () => this.#keys.length);
    const turn = items.find((item) => item.kind === 'granted');
    return turn && { at: turn.at, now };
  }

  /** A turn must not be that of a caller behind another one in the same queue. */
  #noteTurn(state: ModelState, index: number, text: string, withTurn: ReadonlySet<number>): void {
    const turn = this.#findTurn(text);
    if (turn === undefined) return;
    if (turn.at > turn.now + this.scope.horizon * TICK) this.problem ??= 'a turn is too far ahead';
    if (this.scope.hasFaults || state.isReordered) return;
    // A turn that comes at the arrival is behind all that wait then.
    const number = state.callers[index]!.number || Infinity;
    const costs = this.scope.costs[index]!;
    const isBehind = state.callers.some((other, place) => {
      const shares = costs.some((cost, rule) => cost > 0 && this.#holds(state, place, rule));
      const isTold = state.messages.some(([owner, message]) => owner === place && this.#findTurn(message));
      return (
        other.status === 'waits' &&
        shares &&
        number > other.number &&
        other.number > 0 &&
        !isTold &&
        !withTurn.has(place)
      );
    });
    if (isBehind) this.problem ??= 'a caller was overtaken';
  }

  /** Whether the ticket of a caller is in the queue of a rule. */
  #holds({ places }: ModelState, index: number, rule: number): boolean {
    return places[this.#keys.length + rule]!.split(' ').includes(`o${index}`);
  }

  #accept(state: ModelState, index: number, text: string): void {
    const caller = state.callers[index]!;
    for (const item of parseTicketItems(text, () => this.#keys.length).items) {
      if (item.kind === 'granted') {
        const at = Math.round((item.at - START) / TICK);
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
      } else if (caller.status !== 'waits') continue;
      else if (item.kind === 'queued') caller.number = item.number;
      else if (item.kind === 'missing') caller.isMissing = true;
      else if (item.kind === 'first')
        caller.askAt = state.tick + Math.max(0, Math.round(item.wait / TICK) - this.scope.horizon);
    }
  }

  /** The guarantee that the state breaks, if any. */
  findProblem(state: ModelState): string | undefined {
    if (this.problem !== undefined) return this.problem;
    for (let rule = 0; rule < this.#keys.length; rule++) {
      for (const [end] of state.starts) {
        const inWindow = state.starts.filter(([tick]) => tick <= end && tick > end - this.scope.window);
        const units = inWindow.reduce((sum, [, costs]) => sum + costs[rule]!, 0);
        if (units > this.scope.limit) return 'more starts than the limit in a window';
      }
    }
    return undefined;
  }
}

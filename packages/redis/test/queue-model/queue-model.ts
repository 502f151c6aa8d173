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
  /** For each caller, its cost for each limit. */
  readonly costs: readonly (readonly number[])[];
  /** The process of each caller. By default, each has its own. */
  readonly processes?: readonly number[];
  /** Whether messages may be lost and late, and processes may be stopped at any time. */
  readonly hasFaults: boolean;
  readonly crashes?: number;
  readonly aborts?: number;
  readonly refunds?: number;
  /** How many operations fail without an effect when a caller leaves, so that it leaves later. */
  readonly failedLeaves?: number;
  /** How many messages arrive twice. */
  readonly repeatedMessages?: number;
  /** How many replies to arrivals are lost, so that the client sends the operation again later. */
  readonly lostReplies?: number;
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
  /** Whether its ticket must be taken out of the queues once more. */
  owesLeave: boolean;
  /** Whether the client will send its arrival again. */
  resends: boolean;
  /** The turns that were read, if messages may arrive twice. */
  seen: string[];
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
  /** The ids of the tickets in each queue. */
  places: string[];
  callers: Caller_[];
  messages: [process: number, text: string][];
  /** Turns that nobody uses, which will be refunded. */
  unused: [index: number, at: number, stamp: number][];
  /** What has started: the tick and the costs. */
  starts: [tick: number, costs: number[]][];
  crashes: number;
  aborts: number;
  refunds: number;
  failedLeaves: number;
  repeatedMessages: number;
  lostReplies: number;
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

/** A turn in a reply or a message: whose it is, its time, and when it was granted. */
interface FoundTurn {
  readonly index: number;
  readonly at: number;
  readonly now: number;
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
  readonly #processes: readonly number[];
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
    this.#processes = scope.processes ?? scope.costs.map((_, index) => index);
    this.#groups = scope.costs.map(group);
    this.#checks = group(rules.map(() => 1));
    this.runner = new ScriptRunner(redis, this.#checks.keys, defect);
    const { crashes = 0, aborts = 0, refunds = 0, checks = 0, overtakingChecks = 0 } = scope;
    const { failedLeaves = 0, repeatedMessages = 0, lostReplies = 0 } = scope;
    this.initial = {
      tick: 0,
      dumps: this.#checks.keys.map(() => ''),
      places: this.#checks.keys.map(() => ''),
      callers: scope.costs.map(() => ({
        ...{ status: 'idle', number: 0, at: 0, stamp: 0, isMissing: false, askAt: NEVER },
        ...{ owesLeave: false, resends: false, seen: [] },
      })),
      messages: [],
      unused: [],
      starts: [],
      ...{ crashes, aborts, refunds, checks, overtakingChecks, failedLeaves, repeatedMessages, lostReplies },
      isReordered: false,
    };
  }

  toStep(state: ModelState, operations: readonly Operation[]): Step {
    const live = state.callers.flatMap(({ status }, index) => (status === 'gone' ? [] : [this.processOf(index)]));
    const subscribed = [...new Set(live)].map((process) => `o${process}`);
    return { nowMicros: START + state.tick * TICK, dumps: state.dumps, subscribed, operations };
  }

  processOf(index: number): number {
    return this.#processes[index]!;
  }

  /** Everything that may happen next. With `isFair`, only what a schedule without faults does now. */
  choices(state: ModelState): Choice[] {
    const { hasFaults } = this.scope;
    const choices: Choice[] = [];
    let isUrgent = false;
    for (const [index, caller] of state.callers.entries()) {
      const { status, at } = caller;
      if (status === 'idle' && state.tick <= this.scope.lastArrival) {
        choices.push(this.enter(index));
        if (state.lostReplies > 0) choices.push(this.#enterUnanswered(index));
      }
      if (caller.resends) choices.push(this.enter(index));
      if (caller.owesLeave) choices.push(this.leaveAgain(index));
      if (status === 'waits' && !caller.resends && (hasFaults || caller.askAt <= state.tick)) {
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
      if (status === 'waits' && state.failedLeaves > 0) choices.push(this.#failToLeave(index));
      if (isOpen && state.crashes > 0) choices.push(this.#crash(index));
      if (status === 'started' && state.refunds > 0 && at >= 0 && at > state.tick - this.scope.window) {
        choices.push(this.#refund(index, caller));
      }
    }
    for (const place of state.messages.keys()) {
      isUrgent ||= !hasFaults;
      choices.push(this.deliver(place));
      if (hasFaults) choices.push({ apply: ({ messages }) => void messages.splice(place, 1) });
      if (state.repeatedMessages > 0) choices.push(this.#deliverTwice(place));
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
        const caller = state.callers[index]!;
        if (caller.status === 'idle') caller.status = 'waits';
        caller.resends = false;
        this.#receive(state, index, outcome!);
      },
    };
  }

  #enterUnanswered(index: number): Choice {
    return {
      ...this.enter(index),
      apply: (state, outcome) => {
        state.lostReplies -= 1;
        Object.assign(state.callers[index]!, { status: 'waits', resends: true });
        this.#receive(state, -1, outcome!);
      },
    };
  }

  leaveAgain(index: number): Choice {
    return {
      operations: [this.#ticket(index, 'leave', [index + 1, this.#costs(index)])],
      apply: (state, outcome) => {
        state.callers[index]!.owesLeave = false;
        this.#receive(state, index, outcome!);
      },
    };
  }

  #failToLeave(index: number): Choice {
    return {
      apply: (state) => {
        state.failedLeaves -= 1;
        const left = { status: 'started', at: -1, stamp: 0, isMissing: false, askAt: NEVER, owesLeave: true };
        Object.assign(state.callers[index]!, left);
      },
    };
  }

  sync(state: ModelState, index: number): Choice {
    const asked = this.#mates(state, index);
    const tickets = asked.flatMap((mate) => [mate + 1, state.callers[mate]!.number, this.#costs(mate)]);
    return {
      operations: [this.#ticket(index, 'sync', tickets)],
      apply: (next, outcome) => {
        for (const mate of asked) next.callers[mate]!.askAt = NEVER;
        this.#receive(next, index, outcome!);
      },
    };
  }

  /** The callers of the same process and group that ask together, in the order of their numbers. */
  #mates({ callers }: ModelState, index: number): number[] {
    const isMate = ({ status, number }: Caller_, other: number) =>
      status === 'waits' &&
      number > 0 &&
      this.processOf(other) === this.processOf(index) &&
      this.#groups[other]!.id === this.#groups[index]!.id;
    const mates = callers.flatMap((caller, other) => (isMate(caller, other) ? [other] : []));
    return mates.sort((one, other) => callers[one]!.number - callers[other]!.number);
  }

  /** Gets its old place, and refunds its turn if it was too late for it. */
  reenter(state: ModelState, index: number): Choice {
    const { status, number, at, stamp } = state.callers[index]!;
    const operations: Operation[] = [this.#ticket(index, 'enter', [index + 1, number, -1, this.#costs(index)])];
    if (status === 'hasTurn') operations.push(...this.#refunding(index, at, stamp));
    return {
      operations,
      apply: (next, outcome) => {
        const again = { status: 'waits', at: 0, stamp: 0, isMissing: false, askAt: NEVER, owesLeave: false };
        Object.assign(next.callers[index]!, again);
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
        const [[, text]] = state.messages.splice(place, 1) as [[number, string]];
        this.#accept(state, text);
      },
    };
  }

  #deliverTwice(place: number): Choice {
    return {
      apply: (state) => {
        state.repeatedMessages -= 1;
        this.#accept(state, state.messages[place]![1]);
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
        const gone = {
          status: 'gone',
          at: -1,
          stamp: 0,
          isMissing: false,
          askAt: NEVER,
          owesLeave: false,
          resends: false,
        };
        const isOfProcess = (other: number) => this.processOf(other) === this.processOf(index);
        for (const [other, caller] of state.callers.entries()) if (isOfProcess(other)) Object.assign(caller, gone);
        state.unused = state.unused.filter(([other]) => !isOfProcess(other));
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
    return {
      nowMicros: undefined,
      owner: `o${index === 99 ? index : this.processOf(index)}`,
      contact,
      leaseMs: this.scope.lease * 10,
    };
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
    const turns = [...sent.map(([, text]) => text), ...lines].flatMap((text) => this.#turnsIn(text));
    for (const turn of turns) this.#noteTurn(state, turn, turns);
    state.places = [...places];
    if (index < 0) return;
    for (const line of reply.split('\n').slice(1)) {
      if (line === '!') this.problem ??= 'an operation failed';
      if (/^\d+(,|$)/.test(line)) this.#accept(state, line);
    }
  }

  #turnsIn(text: string): FoundTurn[] {
    if (!/^\d{16},/.test(text)) return [];
    const { now, items } = parseTicketItems(text);
    return items.flatMap((item) => (item.kind === 'granted' ? [{ index: item.id - 1, at: item.at, now }] : []));
  }

  /** A turn must not be that of a caller behind another one in the same queue. */
  #noteTurn(state: ModelState, { index, at, now }: FoundTurn, turns: readonly FoundTurn[]): void {
    if (at > now + this.scope.horizon * TICK) this.problem ??= 'a turn is too far ahead';
    if (this.scope.hasFaults || state.isReordered) return;
    // A turn that comes at the arrival is behind all that wait then.
    const number = state.callers[index]!.number || Infinity;
    const costs = this.scope.costs[index]!;
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
    return places[this.#keys.length + rule]!.split(' ').includes(String(index + 1));
  }

  #accept(state: ModelState, text: string): void {
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
        caller.askAt = state.tick + Math.max(0, Math.round(item.wait / TICK) - this.scope.horizon);
    }
  }

  /** A turn that is read a second time must not be refunded, because its action may start. */
  #isRepeated({ seen }: Caller_, turn: string): boolean {
    if (!this.scope.repeatedMessages) return false;
    const isRepeated = seen.includes(turn);
    if (!isRepeated) seen.push(turn);
    return isRepeated;
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

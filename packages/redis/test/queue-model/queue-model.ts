import type { Operation } from '../../src/operations/operations.js';
import { CallerChoices } from './caller-choices.js';
import { CheckChoices } from './check-choices.js';
import { FaultChoices } from './fault-choices.js';
import { ModelOperations } from './model-operations.js';
import { ModelReceiver } from './model-receiver.js';
import { type Choice, initialState, type ModelState, NEVER, START, TICK } from './model-state.js';
import { intervalOf, limitOf, processOf, type Scope } from './scope.js';
import { type BinaryRedis, type Defect, ScriptRunner, type Step } from './script-runner.js';

/** Queues of callers in several processes, as `lua/queues` implements them. */
export class QueueModel {
  readonly scope: Scope;
  readonly runner: ScriptRunner;
  readonly initial: ModelState;
  readonly callers: CallerChoices;
  readonly faults: FaultChoices;
  readonly #checks: CheckChoices;
  readonly #receiver: ModelReceiver;
  readonly #keyCount: number;

  constructor(redis: BinaryRedis, scope: Scope, defect?: Defect) {
    this.scope = scope;
    const operations = new ModelOperations(scope);
    this.runner = new ScriptRunner(redis, operations.allKeys, defect);
    this.initial = initialState(scope, operations.allKeys.length);
    this.#receiver = new ModelReceiver(scope, operations);
    this.callers = new CallerChoices(scope, operations, this.#receiver);
    this.faults = new FaultChoices(scope, this.callers, this.#receiver);
    this.#checks = new CheckChoices(scope, operations, this.#receiver);
    this.#keyCount = operations.keys.length;
  }

  /** The first guarantee that a transition has broken. */
  get problem(): string | undefined {
    return this.#receiver.problem;
  }

  toStep(state: ModelState, operations: readonly Operation[]): Step {
    const live = state.callers.flatMap(({ status }, index) =>
      status === 'gone' ? [] : [processOf(this.scope, index)],
    );
    const subscribed = [...new Set(live)].map((process) => `o${process}`);
    return { nowMicros: START + state.tick * TICK, dumps: state.dumps, subscribed, operations };
  }

  /** Everything that may happen next. */
  choices(state: ModelState): Choice[] {
    const { hasFaults, lastTick } = this.scope;
    const choices: Choice[] = [];
    for (const index of state.callers.keys()) choices.push(...this.#choicesOf(state, index));
    for (const place of state.messages.keys()) {
      choices.push(this.faults.deliver(place));
      if (hasFaults) choices.push(this.faults.lose(place));
      if (state.repeatedMessages > 0) choices.push(this.faults.deliverTwice(place));
    }
    for (const place of state.unused.keys()) choices.push(this.callers.refundUnused(state, place));
    choices.push(...this.#checks.choices(state));
    if (state.tick < lastTick && !this.#isUrgent(state)) choices.push({ apply: (next) => this.pass(next) });
    return choices;
  }

  #choicesOf(state: ModelState, index: number): Choice[] {
    const caller = state.callers[index]!;
    const { status, at } = caller;
    const { callers, faults, scope } = this;
    const choices: Choice[] = [];
    if (status === 'idle' && state.tick <= scope.lastArrival) {
      choices.push(callers.enter(index));
      if (state.lostReplies > 0) choices.push(faults.enterUnanswered(index));
    }
    if (caller.resends) choices.push(callers.enter(index));
    if (caller.owesLeave) choices.push(callers.leaveAgain(index));
    if (status === 'waits' && !caller.resends && (scope.hasFaults || caller.askAt <= state.tick)) {
      choices.push(callers.sync(state, index));
    }
    if (status === 'waits' && caller.isMissing) choices.push(callers.reenter(state, index));
    if (this.#mayStart(state, index)) choices.push(callers.start(index));
    else if (status === 'hasTurn' && at < state.tick) {
      choices.push(callers.reenter(state, index));
      if (state.splitBatches > 0) choices.push(callers.restoreOnly(state, index));
    }
    const isOpen = status === 'waits' || status === 'hasTurn';
    if (isOpen && state.aborts > 0) choices.push(callers.abort(state, index));
    if (status === 'waits' && state.failedLeaves > 0) choices.push(faults.failToLeave(index));
    if (isOpen && state.crashes > 0) choices.push(faults.crash(index));
    if (status === 'started' && state.refunds > 0 && at >= 0 && at > state.tick - scope.window) {
      choices.push(callers.refund(index, caller));
    }
    return choices;
  }

  #mayStart({ callers, tick }: ModelState, index: number): boolean {
    const { status, at } = callers[index]!;
    return status === 'hasTurn' && (at === tick || (this.scope.mayStartLate === true && at < tick));
  }

  /** Whether a process acts before the next tick, because nothing makes it late. */
  #isUrgent({ callers, messages, tick }: ModelState): boolean {
    if (this.scope.hasFaults) return false;
    const asks = callers.some(({ status, resends, askAt }) => status === 'waits' && !resends && askAt <= tick);
    const starts = callers.some(({ status, at }) => status === 'hasTurn' && at === tick);
    return asks || starts || messages.length > 0;
  }

  /** A tick passes. Forgets what no longer matters. */
  pass(state: ModelState): void {
    state.tick += 1;
    const start = state.tick - this.scope.window;
    state.starts = state.starts.filter(([tick]) => tick > start);
    for (const caller of state.callers) {
      if (caller.status === 'started' && caller.at <= start)
        Object.assign(caller, { at: -1, stamp: 0, hits: [], number: 0 });
    }
  }

  /** The guarantee that the state breaks, if any. */
  findProblem(state: ModelState): string | undefined {
    if (this.problem !== undefined) return this.problem;
    for (let rule = 0; rule < this.#keyCount; rule++) {
      const problem = intervalOf(this.scope, rule) > 0 ? this.#tooClose(state, rule) : this.#tooMany(state, rule);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  #tooMany({ starts }: ModelState, rule: number): string | undefined {
    const { window, windows, intervals } = this.scope;
    // A window counts an action when it is recorded, even if a leaky bucket assigns it a later start.
    const times = starts.map(([tick, costs, recorded]) => [intervals ? recorded : tick, costs[rule]!] as const);
    for (const [end] of times) {
      const inWindow = times.filter(([tick]) => tick <= end && tick > end - (windows?.[rule] ?? window));
      const units = inWindow.reduce((sum, [, cost]) => sum + cost, 0);
      if (units > limitOf(this.scope, rule)) return 'more starts than the limit in a window';
    }
    return undefined;
  }

  #tooClose({ starts }: ModelState, rule: number): string | undefined {
    const interval = intervalOf(this.scope, rule);
    const own = starts.filter(([, costs]) => costs[rule]! > 0).sort(([one], [other]) => one - other);
    const isTooClose = own.some(
      ([tick, costs], place) => tick + costs[rule]! * interval > (own[place + 1]?.[0] ?? NEVER),
    );
    return isTooClose ? 'two actions started closer than the interval' : undefined;
  }
}

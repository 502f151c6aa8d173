import { type Clock, type Decision, rollingWindow } from '@rollgate/core';
import { isThenable, PendingResult, type Plan, readReceipt } from '@rollgate/core/store';
import { LeasingStore } from '../../src/index.js';
import type { LeasedReceipt } from '../../src/leased-receipt.js';
import { NaiveServer } from './naive-server.js';
import { type Message, type RemoteReceipt, RemoteStore } from './remote-store.js';

/** What may happen, and how often. */
export interface Scope {
  readonly limit: number;
  readonly leaseMs: number;
  readonly windowMs: number;
  readonly processes: number;
  /** How many checks each process makes. */
  readonly checks: number;
  /** How far the time advances in one step, for each kind of step. */
  readonly steps: readonly number[];
  readonly ticks: number;
  readonly messages: number;
  readonly losses?: number;
  readonly repeats?: number;
  readonly refunds?: number;
  readonly kills?: number;
  readonly resets?: number;
  readonly lowerings?: number;
  readonly plainChecks?: number;
  /** The part by which the clock of the first process is slow, that of the second one is fast, and so on; default 0. */
  readonly skew?: number;
  /** The largest part of the free units that a lease takes; default 1. */
  readonly maxShare?: number;
  /** How many decisions a lease must save; default 1. */
  readonly minDecisions?: number;
}

/** A unit that an allowed check has spent. */
interface Spend {
  readonly atMs: number;
  readonly process: number;
  readonly receipt: LeasedReceipt;
  isRefunded: boolean;
}

class Process {
  readonly store: LeasingStore;
  readonly clock: Clock;
  isAlive = true;
  checks = 0;
  waiting = 0;
  timers: { readonly atMs: number; readonly callback: () => void }[] = [];

  constructor(index: number, world: World) {
    const { leaseMs, skew = 0, maxShare = 1, minDecisions = 1 } = world.scope;
    const rate = index % 2 === 0 ? 1 - skew : 1 + skew;
    this.clock = {
      now: () => world.nowMs * rate,
      schedule: (atMs, callback) => {
        const timer = { atMs, callback };
        this.timers.push(timer);
        return () => {
          this.timers = this.timers.filter((other) => other !== timer);
        };
      },
    };
    const send = (message: Message) => {
      if (this.isAlive) world.network.push(message);
    };
    const time = { now: () => world.nowMs };
    const remote = new RemoteStore(index, this.clock, time, world.server, () => world.checks, send);
    this.store = new LeasingStore({ store: remote, lease: leaseMs, maxShare, minDecisions });
  }

  /** Whether a timer is due by its clock. */
  isDue = ({ atMs }: { readonly atMs: number }): boolean => atMs <= this.clock.now();
}

/** Several processes with the shipped store, a server and a network. Everything happens one by one. */
export class World {
  nowMs = 0;
  /** The checks of all processes so far. */
  checks = 0;
  /** The checks that were allowed, and those of them that a lease has decided. */
  allowedCount = 0;
  leasedCount = 0;
  network: Message[] = [];
  readonly server = new NaiveServer();
  readonly processes: Process[];
  #spends: Spend[] = [];
  #plan: Plan;
  #limit: number;
  /** How often each budget was used. */
  readonly #used: Record<string, number> = {};
  /** Units that processes held when the server dropped the key. */
  #extra = 0;
  #loweredAtMs = -Infinity;

  constructor(readonly scope: Scope) {
    this.#limit = scope.limit;
    this.#plan = toPlan(scope.limit, scope.windowMs);
    this.processes = Array.from({ length: scope.processes }, (_, index) => new Process(index, this));
  }

  /** Everything that may happen next. */
  actions(): string[] {
    const { scope, network } = this;
    const actions: string[] = [];
    const may = (kind: keyof Scope) => (this.#used[kind] ?? 0) < ((scope[kind] as number | undefined) ?? 0);
    this.processes.forEach(({ isAlive, checks, timers, isDue }, index) => {
      if (!isAlive) return;
      if (checks < scope.checks && network.length < scope.messages) actions.push(`check ${index}`);
      if (timers.some(isDue)) actions.push(`sweep ${index}`);
      if (may('kills')) actions.push(`kill ${index}`);
      if (may('resets') && network.length < scope.messages) actions.push(`reset ${index}`);
    });
    network.forEach(({ kind, isExecuted, process }, index) => {
      const isFirst =
        network.findIndex((other) => other.process === process && other.isExecuted === isExecuted) === index;
      if (isFirst) actions.push(`${isExecuted ? 'reply' : 'execute'} ${index}`);
      if (may('losses')) actions.push(`lose ${index}`);
      if (may('repeats') && kind === 'check' && isExecuted) actions.push(`repeat ${index}`);
    });
    this.#spends.forEach(({ isRefunded, process }, index) => {
      if (may('refunds') && !isRefunded && this.processes[process]!.isAlive) actions.push(`refund ${index}`);
    });
    if (may('lowerings')) actions.push('lower 0');
    if (may('plainChecks')) actions.push('plain 0');
    if (may('ticks')) actions.push(...scope.steps.map((_, index) => `advance ${index}`));
    return actions;
  }

  run(action: string): void {
    const [kind, text] = action.split(' ') as [string, string];
    const index = Number(text);
    if (kind === 'check') this.#check(index);
    else if (kind === 'sweep') this.#sweep(index);
    else if (kind === 'execute') this.#execute(this.network[index]!);
    else if (kind === 'reply') this.#take(index).deliver();
    else if (kind === 'lose') this.#use('losses', () => this.#take(index).fail());
    else if (kind === 'repeat') this.#use('repeats', () => this.network[index]!.execute());
    else if (kind === 'refund') this.#use('refunds', () => this.#refund(this.#spends[index]!));
    else if (kind === 'kill') this.#use('kills', () => this.#kill(index));
    else if (kind === 'reset') this.#use('resets', () => this.#reset(index));
    else if (kind === 'lower') this.#use('lowerings', () => this.#lower());
    else if (kind === 'plain') this.#use('plainChecks', () => this.#plainCheck());
    else this.#use('ticks', () => this.#advance(this.scope.steps[index]!));
  }

  /** Returns what is wrong, if anything is. */
  verify(): string | undefined {
    const { windowMs, leaseMs } = this.scope;
    const inWindow = (sinceMs: number) =>
      this.#spends.filter(({ atMs, isRefunded }) => !isRefunded && atMs > sinceMs).length;
    const spent = inWindow(this.nowMs - windowMs);
    if (spent > this.scope.limit + this.#extra) return `${spent} units in a window`;
    const afterLowering = inWindow(Math.max(this.nowMs - windowMs, this.#loweredAtMs + leaseMs));
    if (this.#limit < this.scope.limit && afterLowering > this.#limit)
      return `${afterLowering} units after the limit was lowered`;
    return this.#verifyIdle();
  }

  /** Equal states have the same future. */
  key(): string {
    const leases: unknown[] = [];
    const idOf = (lease: unknown) => {
      if (!leases.includes(lease)) leases.push(lease);
      return leases.indexOf(lease);
    };
    const spends = this.#spends.map(({ atMs, process, receipt, isRefunded }) => {
      const lease = receipt.spent[0]?.lease;
      return [atMs, process, isRefunded, lease && idOf(lease), receipt.inner];
    });
    const network = this.network.map(({ process, kind, data, isExecuted }) => [process, kind, data, isExecuted]);
    const processes = this.processes.map(({ store, isAlive, checks, waiting, timers }) => {
      return isAlive && [store, checks, waiting, timers.map(({ atMs }) => atMs)];
    });
    const { nowMs, server } = this;
    return JSON.stringify([
      nowMs,
      server.live(nowMs),
      this.checks,
      network,
      processes,
      spends,
      leases,
      this.#used,
      this.#extra,
    ]);
  }

  /** Without losses, the server counts exactly what is spent, once no process holds units. */
  #verifyIdle(): string | undefined {
    const { losses = 0, repeats = 0, kills = 0, resets = 0, plainChecks = 0 } = this.#used;
    if (losses + repeats + kills + resets + plainChecks > 0 || this.network.length > 0) return undefined;
    if (this.processes.some(({ store }) => /"(current|request)":\{/.test(JSON.stringify(store)))) return undefined;
    const live = this.server.live(this.nowMs);
    const counted = live.reduce((sum, { units }) => sum + units, 0);
    const isLive = ({ receipt, isRefunded }: Spend) => !isRefunded && live.some(({ id }) => id === hitOf(receipt));
    const spent = this.#spends.filter(isLive).length;
    return counted === spent ? undefined : `The server counts ${counted} units, and ${spent} are spent`;
  }

  #check(index: number): void {
    const process = this.processes[index]!;
    const number = ++this.checks;
    process.checks += 1;
    process.waiting += 1;
    const onDecision = (decision: Decision) => {
      process.waiting -= 1;
      if (!decision.allowed || !process.isAlive) return;
      const receipt = readReceipt(decision) as LeasedReceipt;
      this.allowedCount += 1;
      if (receipt.spent.length > 0) this.leasedCount += 1;
      const atMs = this.#decidedMs(receipt, number, process.clock.now());
      this.#spends.push({ atMs, process: index, receipt, isRefunded: false });
    };
    const onError = () => {
      process.waiting -= 1;
    };
    const decision = process.store.check(this.#plan, 'key', 1);
    if (decision instanceof PendingResult) decision.listen({ succeed: onDecision, fail: onError });
    else if (isThenable(decision)) decision.then(onDecision, onError);
    else onDecision(decision);
  }

  /** The store has decided a check whose units were requested after it, if their lease is over. Others decide when they get units. */
  #decidedMs({ spent, inner }: LeasedReceipt, check: number, processMs: number): number {
    const lease = spent[0]?.lease;
    const { id, checksBefore } = (lease?.receipt ?? inner) as RemoteReceipt;
    const isByStore = lease === undefined || (processMs >= lease.untilMs && check <= checksBefore);
    return isByStore ? this.server.timesMs[id]! : this.nowMs;
  }

  #sweep(index: number): void {
    const process = this.processes[index]!;
    const due = process.timers.filter(process.isDue);
    process.timers = process.timers.filter((timer) => !process.isDue(timer));
    for (const { callback } of due) callback();
  }

  #execute(message: Message): void {
    const { kind, data } = message;
    // What the server forgets may still be spent, next to the full quota.
    if (kind === 'reset') this.#extra += this.server.live(this.nowMs).reduce((sum, { units }) => sum + units, 0);
    if (kind === 'check' && (data[0] as number) > this.#limit) this.#loweredAtMs = this.nowMs;
    message.execute();
  }

  #refund(spend: Spend): void {
    spend.isRefunded = true;
    const refunded = this.processes[spend.process]!.store.refund(spend.receipt);
    if (isThenable(refunded)) refunded.then(undefined, () => {});
  }

  /** The server still executes what the process has sent. No reply arrives. */
  #kill(index: number): void {
    this.processes[index]!.isAlive = false;
    this.network = this.network.filter(({ process, isExecuted }) => process !== index || !isExecuted);
    for (const message of this.network) if (message.process === index) message.deliver = () => {};
  }

  #reset(index: number): void {
    const reset = this.processes[index]!.store.reset(this.#plan, 'key');
    if (isThenable(reset)) reset.then(undefined, () => {});
  }

  #lower(): void {
    this.#limit -= 1;
    this.#loweredAtMs = this.nowMs;
    this.#plan = toPlan(this.#limit, this.scope.windowMs);
  }

  /** A check by a process that holds no units. It is the server that decides. */
  #plainCheck(): void {
    const { windowMs, leaseMs } = this.scope;
    const { hit } = this.server.check(this.#limit, windowMs + leaseMs, 1, this.nowMs);
    if (hit === undefined) return;
    const receipt = {
      spent: [],
      inner: { id: hit.id, checksBefore: this.checks, units: 1 },
    } as unknown as LeasedReceipt;
    this.#spends.push({ atMs: this.nowMs, process: 0, receipt, isRefunded: false });
  }

  #advance(ms: number): void {
    this.nowMs += ms;
    // Older spends are in no later window. Their hits may still count.
    const isOld = ({ atMs }: Spend) => atMs <= this.nowMs - this.scope.windowMs - 2 * this.scope.leaseMs;
    this.#spends = this.#spends.filter((spend) => !isOld(spend));
  }

  #take(index: number): Message {
    return this.network.splice(index, 1)[0]!;
  }

  #use(budget: string, action: () => void): void {
    this.#used[budget] = (this.#used[budget] ?? 0) + 1;
    action();
  }
}

function toPlan(limit: number, windowMs: number): Plan {
  const rolling = rollingWindow({ limit, window: `${windowMs}ms` });
  return { prefix: 'p', rules: [{ name: 'default', limit: rolling, namespace: 'p:default:rolling-window' }] };
}

function hitOf({ spent, inner }: LeasedReceipt): number {
  return ((spent[0]?.lease.receipt ?? inner) as RemoteReceipt).id;
}

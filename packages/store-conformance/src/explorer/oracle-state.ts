import type { Admitted as Admission } from '../guarantees.js';
import { BACK_MICROS, type Ready, type ReadyCall, type Ruling } from './scenario.js';
import type { Step } from './steps.js';

/** A time near today, so that moments are far greater than any duration or count. */
export const START_NEAR_MICROS = 2 ** 50;

/** The life of one key: from its first record until it is reset, or begins again. */
export interface Life {
  readonly id: number;
  /** Never changed, as no state of an oracle is. */
  readonly state: unknown;
  /** The limit that recorded last, and so decides when the state expires. */
  readonly by: Ruling;
  /**
   * When each limit with a `minDifference` recorded last, by its index. Empty after a refund, which may have undone
   * that.
   */
  readonly newest: readonly (number | undefined)[];
}

const NONE: readonly undefined[] = [];

function withNewest(newest: Life['newest'], { index, minDifferenceMicros }: Ruling, now: number): Life['newest'] {
  if (minDifferenceMicros === 0) return newest;
  const changed = newest.slice();
  changed[index] = Math.max(now, newest[index] ?? now);
  return changed;
}

/** What one limit recorded of a check. */
export interface Part {
  readonly ruling: Ruling;
  readonly place: number;
  readonly life: number;
  readonly receipt: unknown;
  readonly cost: number;
  /** Its entry in `OracleState.admitted`, if it has one. */
  readonly admission: Admission | undefined;
}

function isSlot({ ruling }: Pick<Part, 'ruling'>): boolean {
  return ruling.oracle.retryAfterMicros !== undefined;
}

/** The oracles' opinion of one check. */
export interface Opinion {
  readonly passes: readonly boolean[];
  readonly allowed: boolean;
  readonly delays: readonly number[];
}

/**
 * What the naive oracles know after a history, by the rules of `ReferenceModel`. Copies are cheap, so a history can
 * branch.
 */
export class OracleState {
  nowMicros = 0;
  highestMicros = 0;
  /** By place. Replaced, never changed, like the receipts, so a copy may share them. */
  lives: readonly (Life | undefined)[];
  /**
   * Of the checks that recorded something and were not refunded, oldest first. Empty for a rejected one: nothing is
   * refunded.
   */
  receipts: readonly (readonly Part[])[] = [];
  /**
   * What was allowed and not refunded, by place, as far back as it matters. Empty where several limits share the key.
   */
  admitted: readonly (readonly Admission[])[];
  lifeCount = 0;

  constructor(lives: OracleState['lives'], admitted: OracleState['admitted']) {
    this.lives = lives;
    this.admitted = admitted;
  }

  static start({ periodMicros, placeCount }: Ready): OracleState {
    const truth = new OracleState(new Array(placeCount).fill(undefined), new Array(placeCount).fill([]));
    truth.nowMicros = Math.ceil(START_NEAR_MICROS / periodMicros) * periodMicros;
    truth.highestMicros = truth.nowMicros;
    return truth;
  }

  copy(): OracleState {
    const copy = new OracleState(this.lives, this.admitted);
    copy.nowMicros = this.nowMicros;
    copy.highestMicros = this.highestMicros;
    copy.receipts = this.receipts;
    copy.lifeCount = this.lifeCount;
    return copy;
  }

  /** Takes one step. Returns the opinion on a check or a peek. */
  take(step: Step, calls: readonly ReadyCall[]): Opinion | undefined {
    switch (step.kind) {
      case 'tick':
        this.nowMicros += step.micros;
        this.highestMicros = Math.max(this.highestMicros, this.nowMicros);
        return undefined;
      case 'back':
        this.nowMicros -= BACK_MICROS;
        this.admitted = this.admitted.map(() => []); // What a step back may admit in addition is not promised here.
        return undefined;
      case 'reset':
        for (const place of calls[step.call]!.places) {
          this.#setLife(place, undefined);
          this.admitted = this.admitted.with(place, []);
        }
        return undefined;
      case 'refund':
        this.#settle(this.receipts[step.receipt]!, 0);
        this.receipts = this.receipts.toSpliced(step.receipt, 1);
        return undefined;
      case 'release':
        this.#settle(this.receipts[step.receipt]!.filter(isSlot), 0);
        this.receipts = this.receipts.toSpliced(step.receipt, 1);
        return undefined;
      case 'renew':
        this.receipts = this.receipts.with(
          step.receipt,
          this.receipts[step.receipt]!.map((part) => this.#renew(part)),
        );
        return undefined;
      case 'settle':
        this.#settle(this.receipts[step.receipt]!, step.cost);
        this.receipts = this.receipts.toSpliced(step.receipt, 1);
        return undefined;
      case 'charge':
        this.#charge(calls[step.call]!, step.cost);
        return this.#ask(calls[step.call]!, 1, false);
      default:
        return this.#ask(calls[step.call]!, step.cost, step.kind === 'check');
    }
  }

  /** Whether this limit alone would allow it. */
  allows(ruling: Ruling, place: number, at: number, cost: number): boolean {
    const { oracle } = ruling;
    return cost <= oracle.quota && oracle.allows(this.read(ruling, place, at), at, cost);
  }

  /** Units that are free; may be negative when the settings have changed. */
  free(ruling: Ruling, place: number, at: number): number {
    return ruling.oracle.free(this.read(ruling, place, at), at);
  }

  /** What is known of a key at a moment. */
  read({ oracle }: Ruling, place: number, at: number): unknown {
    return this.#isLive(place, at) ? this.lives[place]!.state : oracle.empty;
  }

  /** How long ago this limit recorded in a life of the key that lasts; `Infinity` when it did not. */
  sinceNewest({ index }: Ruling, place: number): number {
    const newest = this.#isLive(place, this.nowMicros) ? this.lives[place]!.newest[index] : undefined;
    return newest === undefined ? Infinity : this.nowMicros - newest;
  }

  #ask({ rulings, places }: ReadyCall, cost: number, records: boolean): Opinion {
    const now = this.nowMicros;
    const passes: boolean[] = [];
    let allowed = true;
    for (let index = 0; index < rulings.length; index++) {
      const [ruling, place] = [rulings[index]!, places[index]!];
      const life = this.lives[place];
      if (life !== undefined && ruling.oracle.isImplausible(life.state, now)) this.#setLife(place, undefined);
      passes.push(this.allows(ruling, place, now, cost));
      allowed &&= passes[index]!;
    }
    const delays: number[] = [];
    const parts: Part[] = [];
    for (let index = 0; index < rulings.length; index++) {
      const [ruling, place] = [rulings[index]!, places[index]!];
      const delay = allowed ? ruling.oracle.delay(this.read(ruling, place, now), now) : 0;
      delays.push(delay);
      if (!records || !(allowed || ruling.oracle.countRejected)) continue;
      const admission = allowed && ruling.isAlone ? { at: now, cost, delay } : undefined;
      if (admission !== undefined) this.#admit(place, admission, now - ruling.limit.keepMicros);
      parts.push(this.#record(ruling, place, cost, admission));
    }
    if (parts.length > 0) this.receipts = [...this.receipts, allowed ? parts : []];
    return { passes, allowed, delays };
  }

  #charge({ rulings, places }: ReadyCall, cost: number): void {
    for (let index = 0; index < rulings.length; index++) this.#recordOverdraft(rulings[index]!, places[index]!, cost);
  }

  #renew(part: Part): Part {
    const { ruling, place, receipt, cost } = part;
    if (!isSlot(part)) return part;
    this.#dropImplausible(ruling, place);
    const now = this.nowMicros;
    const state = ruling.oracle.renew!(this.read(ruling, place, now), receipt, now, cost);
    if (state === undefined) return part;
    const { id, newest } = this.#isLive(place, now) ? this.lives[place]! : { id: this.lifeCount++, newest: NONE };
    this.#setLife(place, { id, state, by: ruling, newest });
    return { ...part, life: id };
  }

  #recordOverdraft(ruling: Ruling, place: number, cost: number): void {
    if (isSlot({ ruling })) return;
    this.#dropImplausible(ruling, place);
    this.#record(ruling, place, cost, undefined);
  }

  #dropImplausible({ oracle }: Ruling, place: number): void {
    const life = this.lives[place];
    if (life !== undefined && oracle.isImplausible(life.state, this.nowMicros)) this.#setLife(place, undefined);
  }

  #record(ruling: Ruling, place: number, cost: number, admission: Admission | undefined): Part {
    const now = this.nowMicros;
    const { oracle } = ruling;
    const [state, receipt] = oracle.record(this.read(ruling, place, now), now, cost);
    const { id, newest } = this.#isLive(place, now) ? this.lives[place]! : { id: this.lifeCount++, newest: NONE };
    this.#setLife(place, { id, state, by: ruling, newest: withNewest(newest, ruling, now) });
    return { ruling, place, life: id, receipt, cost, admission };
  }

  #settle(parts: readonly Part[], settled: number): void {
    for (const { ruling, place, life, receipt, cost, admission } of parts) {
      if (settled > cost) this.#recordOverdraft(ruling, place, settled - cost);
      const lasting = this.lives[place];
      if (settled >= cost || lasting?.id !== life) continue;
      const kept = admission === undefined || settled === 0 ? [] : [{ ...admission, cost: settled }];
      const left = this.admitted[place]!.flatMap((one) => (one === admission ? kept : [one]));
      this.admitted = this.admitted.with(place, left);
      const state = ruling.oracle.refund(lasting.state, receipt, this.nowMicros, settled);
      this.#setLife(place, { ...lasting, newest: NONE, state });
    }
  }

  #admit(place: number, admission: Admission, fromMicros: number): void {
    const recent = this.admitted[place]!.filter(({ at }) => at > fromMicros);
    this.admitted = this.admitted.with(place, [...recent, admission]);
  }

  #setLife(place: number, life: Life | undefined): void {
    this.lives = this.lives.with(place, life);
  }

  #isLive(place: number, at: number): boolean {
    const life = this.lives[place];
    return life !== undefined && life.by.oracle.expires(life.state) > at;
  }
}

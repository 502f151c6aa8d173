// A step of a history is one number below 2^16, so that millions of histories fit into memory.

/** A number up to this one is a tick of so many microseconds. */
export const MAX_TICK = 47_999;

const KINDS = {
  release: 48,
  renew: 49,
  back: 50,
  check: 51,
  peek: 52,
  reset: 53,
  refund: 54,
  charge: 55,
  settle: 56,
} as const;
/** A settlement has room for this many costs. */
const SETTLED_COSTS = 10;

/** The clock steps back. */
export const BACK = KINDS.back * 1000;

export const checkOf = (call: number, cost: number): number => KINDS.check * 1000 + call * 10 + cost;
export const peekOf = (call: number, cost: number): number => KINDS.peek * 1000 + call * 10 + cost;
export const resetOf = (call: number): number => KINDS.reset * 1000 + call;
export const chargeOf = (call: number, cost: number): number => KINDS.charge * 1000 + call * 10 + cost;
/** `receipt` is below 900, because a step is below 2^16. */
export const settleOf = (receipt: number, cost: number): number => KINDS.settle * 1000 + receipt * SETTLED_COSTS + cost;
export const releaseOf = (receipt: number): number => KINDS.release * 1000 + receipt;
export const renewOf = (receipt: number): number => KINDS.renew * 1000 + receipt;
export const refundOf = (receipt: number): number => KINDS.refund * 1000 + receipt;

/** A check, a peek or a charge of a scenario's call. */
export interface Asking {
  readonly kind: 'check' | 'peek' | 'charge';
  readonly call: number;
  readonly cost: number;
}

/** What a step does. `receipt` is an index into the checks that can be refunded, oldest first. */
export type Step =
  | Asking
  | { readonly kind: 'tick'; readonly micros: number }
  | { readonly kind: 'back'; readonly micros: number }
  | { readonly kind: 'reset'; readonly call: number }
  | { readonly kind: 'refund'; readonly receipt: number }
  | { readonly kind: 'release'; readonly receipt: number }
  | { readonly kind: 'renew'; readonly receipt: number }
  | { readonly kind: 'settle'; readonly receipt: number; readonly cost: number };

const decoded = new Map<number, Step>();

/** The step that this number stands for. */
export function stepOf(code: number): Step {
  let step = decoded.get(code);
  if (step === undefined) {
    step = decode(code);
    decoded.set(code, step);
  }
  return step;
}

function decode(code: number): Step {
  if (code <= MAX_TICK) return { kind: 'tick', micros: code };
  if (code >= KINDS.settle * 1000) {
    const rest = code - KINDS.settle * 1000;
    return { kind: 'settle', receipt: Math.floor(rest / SETTLED_COSTS), cost: rest % SETTLED_COSTS };
  }
  const rest = code % 1000;
  const kind = Math.floor(code / 1000);
  if (kind === KINDS.back) return { kind: 'back', micros: 0 };
  if (kind === KINDS.reset) return { kind: 'reset', call: rest };
  if (kind === KINDS.refund) return { kind: 'refund', receipt: rest };
  if (kind === KINDS.release) return { kind: 'release', receipt: rest };
  if (kind === KINDS.renew) return { kind: 'renew', receipt: rest };
  const asking = kind === KINDS.check ? 'check' : kind === KINDS.peek ? 'peek' : 'charge';
  return { kind: asking, call: Math.floor(rest / 10), cost: rest % 10 };
}

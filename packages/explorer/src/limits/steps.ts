// A step of a history is one number below 2^16, so that millions of histories fit into memory.

/** A number up to this one is a tick of as many microseconds. */
export const MAX_TICK = 46_999;

const KINDS = {
  credit: 47,
  release: 48,
  renew: 49,
  stepBack: 50,
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
export const STEP_BACK = KINDS.stepBack * 1000;

export const encodeCheck = (call: number, cost: number): number => KINDS.check * 1000 + call * 10 + cost;
export const encodePeek = (call: number, cost: number): number => KINDS.peek * 1000 + call * 10 + cost;
export const encodeReset = (call: number): number => KINDS.reset * 1000 + call;
export const encodeCharge = (call: number, cost: number): number => KINDS.charge * 1000 + call * 10 + cost;
export const encodeCredit = (call: number, units: number): number => KINDS.credit * 1000 + call * 10 + units;
/** `receipt` is below 900, because a step is below 2^16. */
export const encodeSettle = (receipt: number, cost: number): number =>
  KINDS.settle * 1000 + receipt * SETTLED_COSTS + cost;
export const encodeRelease = (receipt: number): number => KINDS.release * 1000 + receipt;
export const encodeRenew = (receipt: number): number => KINDS.renew * 1000 + receipt;
export const encodeRefund = (receipt: number): number => KINDS.refund * 1000 + receipt;

/** A step with a decision: a check, a peek, a charge or a credit of a scenario's call. Of a credit, the cost is what it gives back. */
export interface DecidingStep {
  readonly kind: 'check' | 'peek' | 'charge' | 'credit';
  readonly call: number;
  readonly cost: number;
}

/** What a step does. `receipt` is an index into the checks that can be refunded, oldest first. */
export type Step =
  | DecidingStep
  | { readonly kind: 'tick'; readonly micros: number }
  | { readonly kind: 'stepBack'; readonly micros: number }
  | { readonly kind: 'reset'; readonly call: number }
  | { readonly kind: 'refund'; readonly receipt: number }
  | { readonly kind: 'release'; readonly receipt: number }
  | { readonly kind: 'renew'; readonly receipt: number }
  | { readonly kind: 'settle'; readonly receipt: number; readonly cost: number };

const DECIDING: readonly DecidingStep['kind'][] = ['check', 'peek', 'charge', 'credit'];

const decoded = new Map<number, Step>();

export function decodeStep(code: number): Step {
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
  if (kind === KINDS.stepBack) return { kind: 'stepBack', micros: 0 };
  if (kind === KINDS.reset) return { kind: 'reset', call: rest };
  if (kind === KINDS.refund) return { kind: 'refund', receipt: rest };
  if (kind === KINDS.release) return { kind: 'release', receipt: rest };
  if (kind === KINDS.renew) return { kind: 'renew', receipt: rest };
  const deciding = DECIDING.find((one) => KINDS[one] === kind)!;
  return { kind: deciding, call: Math.floor(rest / 10), cost: rest % 10 };
}

// A step of a history is one number below 2^16, so that millions of histories fit into memory.

/** A number up to this one is a tick of so many microseconds. */
export const MAX_TICK = 49_999;

const KINDS = { back: 50, check: 51, peek: 52, reset: 53, refund: 54 } as const;

/** The clock steps back. */
export const BACK = KINDS.back * 1000;

export const checkOf = (call: number, cost: number): number => KINDS.check * 1000 + call * 10 + cost;
export const peekOf = (call: number, cost: number): number => KINDS.peek * 1000 + call * 10 + cost;
export const resetOf = (call: number): number => KINDS.reset * 1000 + call;
export const refundOf = (receipt: number): number => KINDS.refund * 1000 + receipt;

/** A check or a peek of a scenario's call. */
export interface Asking {
  readonly kind: 'check' | 'peek';
  readonly call: number;
  readonly cost: number;
}

/** What a step does. `receipt` is an index into the checks that can be refunded, oldest first. */
export type Step =
  | Asking
  | { readonly kind: 'tick'; readonly micros: number }
  | { readonly kind: 'back'; readonly micros: number }
  | { readonly kind: 'reset'; readonly call: number }
  | { readonly kind: 'refund'; readonly receipt: number };

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
  const rest = code % 1000;
  const kind = Math.floor(code / 1000);
  if (kind === KINDS.back) return { kind: 'back', micros: 0 };
  if (kind === KINDS.reset) return { kind: 'reset', call: rest };
  if (kind === KINDS.refund) return { kind: 'refund', receipt: rest };
  return { kind: kind === KINDS.check ? 'check' : 'peek', call: Math.floor(rest / 10), cost: rest % 10 };
}

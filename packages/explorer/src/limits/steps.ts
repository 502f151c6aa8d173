// A step of a history is one number below 2^16, so that millions of histories fit into memory.

/** A number up to this one is a tick of as many microseconds. */
export const MAX_TICK = 46_999;

/** Each kind has a thousand numbers: ten costs for each of a hundred calls or receipts. */
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
type Kind = keyof typeof KINDS;

/** The number of a step. `index` is that of a call or a receipt, both below 100. */
export const encode = (kind: Kind, index = 0, cost = 0): number => KINDS[kind] * 1000 + index * 10 + cost;

/** A step with a decision: a check, a peek, a charge or a credit of a scenario's call. Of a credit, the cost is what it gives back. */
export interface DecidingStep {
  readonly kind: 'check' | 'peek' | 'charge' | 'credit';
  readonly call: number;
  readonly cost: number;
}

/** What a step does. `receipt` is an index into the checks that can be refunded, oldest first. */
export type Step =
  | DecidingStep
  | { readonly kind: 'tick' | 'stepBack'; readonly micros: number }
  | { readonly kind: 'reset'; readonly call: number }
  | { readonly kind: 'refund' | 'release' | 'renew'; readonly receipt: number }
  | { readonly kind: 'settle'; readonly receipt: number; readonly cost: number };

const kinds = Object.keys(KINDS) as Kind[];
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
  const kind = kinds.find((one) => KINDS[one] === Math.floor(code / 1000))!;
  const [index, cost] = [Math.floor((code % 1000) / 10), code % 10];
  switch (kind) {
    case 'stepBack':
      return { kind, micros: 0 };
    case 'reset':
      return { kind, call: index };
    case 'settle':
      return { kind, receipt: index, cost };
    case 'refund':
    case 'release':
    case 'renew':
      return { kind, receipt: index };
    default:
      return { kind, call: index, cost };
  }
}

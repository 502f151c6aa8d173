/**
 * The method that takes the receipt out of a decision. The symbol is registered, so that two installed versions of this
 * package can read each other's decisions.
 */
export const TAKE_RECEIPT = Symbol.for('@rollgate/core takeReceipt');

/** The result of {@link takeReceipt} for a value that is not a decision. */
export const NO_DECISION = Symbol('no decision');

/**
 * Returns the decision's receipt and leaves `left` in its place. Nothing is left by default, so a second refund does
 * nothing.
 */
export function takeReceipt(decision: unknown, left?: unknown): unknown {
  const take = (decision as { [TAKE_RECEIPT]?: unknown } | null | undefined)?.[TAKE_RECEIPT];
  return typeof take === 'function' ? take.call(decision, left) : NO_DECISION;
}

/** Returns the decision's receipt, and leaves it there. */
export function readReceipt(decision: unknown): unknown {
  const receipt = takeReceipt(decision);
  if (receipt !== NO_DECISION) takeReceipt(decision, receipt);
  return receipt;
}

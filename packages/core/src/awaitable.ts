/** What a function may answer with that has its answer at once, or later. */
export type Awaitable<Value> = Value | PromiseLike<Value>;

/** Whether the value is still to come; of any realm and any library. */
export function isThenable<Value>(value: Awaitable<Value>): value is PromiseLike<Value> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

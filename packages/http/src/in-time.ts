import type { Awaitable } from '@rollgate/core';
import { isThenable, withCode } from '@rollgate/core/store';

/** What a function of the user's answers, and no later than that: a request must not hang on it. */
export function inTime<Value>(name: string, answer: PromiseLike<Value>, timeoutMs: number): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      const message = `\`${name}\` did not answer within ${timeoutMs} ms (the option \`timeout\`)`;
      reject(withCode('ERR_ROLLGATE_FUNCTION_TIMEOUT', new Error(message)));
    }, timeoutMs);
    // A thenable may resolve with another one, which also has to settle in time.
    Promise.resolve(answer).then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (thrown) => {
        clearTimeout(timer);
        reject(thrown);
      },
    );
  });
}

/** Goes on at once when the answer is there, and else when it comes. */
export function andThen<Value, Result>(
  answer: Awaitable<Value>,
  next: (value: Value) => Awaitable<Result>,
): Awaitable<Result> {
  return isThenable(answer) ? Promise.resolve(answer).then(next) : next(answer);
}

/** Goes on with what a function of the user's answers: at once, or as soon as it does, if that is in time. */
export function goOnWith<Value, Result>(
  name: string,
  timeoutMs: number,
  answer: Awaitable<Value>,
  next: (value: Value) => Awaitable<Result>,
): Awaitable<Result> {
  return isThenable(answer) ? inTime(name, answer, timeoutMs).then(next) : next(answer);
}

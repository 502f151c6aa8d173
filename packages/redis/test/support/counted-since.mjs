// Since when a start may count in Redis. A process may stand still at any time, so tests compare each start with this time.
import { AsyncLocalStorage } from 'node:async_hooks';
import { RedisStore } from '../../src/index.ts';
import { ServerClock } from '../../src/waiting/server-clock.ts';

/** The monotonic time that all processes of a machine share, in milliseconds. */
export const now = () => Number(process.hrtime.bigint() / 1000n) / 1000;

const calls = new AsyncLocalStorage();

/** Runs `work`, which may call {@link countedSince}. */
export const runCall = (work) => calls.run({}, work);

/** The time of the last check or turn of this call, less the lateness that `docs/queues.md` allows for a turn. */
export const countedSince = () => calls.getStore().sinceMs;

const note = (sinceMs) => {
  const call = calls.getStore();
  if (call !== undefined) call.sinceMs = sinceMs;
};

/** The monotonic time when `performance.now()` was 0. A process may stand still between the two, so the closest pair counts. */
const originMs = Math.max(...Array.from({ length: 100 }, () => now() - performance.now()));

const { isLate } = ServerClock.prototype;
ServerClock.prototype.isLate = function (serverMs, nowMs, lateCount) {
  const uncertaintyMs = this.toLocalMs(0) - this.toEarliestLocalMs(0);
  note(originMs + nowMs - 25 * 2 ** lateCount - 2 * uncertaintyMs);
  return isLate.call(this, serverMs, nowMs, lateCount);
};

const { check } = RedisStore.prototype;
RedisStore.prototype.check = function (...args) {
  note(now());
  return check.apply(this, args);
};

// All planted defects. Each has a name, such as `core/limits/hit-log 3`, by which it can be run alone.

import { buckets } from './lists/buckets.mjs';
import { calendar } from './lists/calendar.mjs';
import { core } from './lists/core.mjs';
import { fetch } from './lists/fetch.mjs';
import { http } from './lists/http.mjs';
import { leasing } from './lists/leasing.mjs';
import { limits } from './lists/limits.mjs';
import { locks } from './lists/locks.mjs';
import { lua } from './lists/lua.mjs';
import { luaStates } from './lists/lua-states.mjs';
import { queues } from './lists/queues.mjs';
import { redis } from './lists/redis.mjs';
import { reported } from './lists/reported.mjs';
import { slots } from './lists/slots.mjs';
import { sql } from './lists/sql.mjs';
import { reasons } from './reasons.mjs';

const numbers = new Map();
const unused = new Set(Object.keys(reasons));

/** @type {readonly { name: string, file: string, description: string, reason: string | undefined, find: string, replace: string, tests: string[] }[]} */
export const mutants = [
  ...limits,
  ...calendar,
  ...locks,
  ...buckets,
  ...core,
  ...lua,
  ...luaStates,
  ...redis,
  ...queues,
  ...http,
  ...slots,
  ...sql,
  ...leasing,
  ...reported,
  ...fetch,
].map((mutant) => {
  const place = mutant.file
    .replace(/^packages\//, '')
    .replace('src/', '')
    .replace(/\.ts$/, '');
  const number = (numbers.get(place) ?? 0) + 1;
  numbers.set(place, number);
  const explained = `${place}: ${mutant.description}`;
  unused.delete(explained);
  return { name: `${place} ${number}`, reason: reasons[explained], ...mutant };
});

/** Reasons that belong to no mutant. */
export const staleReasons = [...unused];

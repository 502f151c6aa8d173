// Defects in slots, their leases and the clock of tests, in TypeScript and in the scripts of Redis.

const LEASES = ['lease-batches', 'lease-losses', 'held-slots', 'slots'].map(
  (name) => `packages/core/test/${name}.test.ts`,
);
const STATES = [
  ...LEASES,
  ...['custom-store', 'custom-store-slots'].map((name) => `packages/store-conformance/test/${name}.test.ts`),
];
const MISUSE = ['packages/core/test/misuse-of-clocks.test.ts'];
const CLOCK = ['packages/core/test/manual-clock.test.ts', 'packages/core/test/wait.test.ts'];
const REDIS = ['concurrency', 'lease-counts', 'lease-settlements', 'vectors', 'conformance'].map(
  (name) => `packages/redis/test/${name}.test.ts`,
);

const of = (file, tests, mutants) =>
  mutants.map(([description, find, replace]) => ({ file: `packages/${file}`, description, find, replace, tests }));

export const slots = [
  ...of('core/src/slots/concurrency.ts', STATES, [
    [
      'one unit above the limit is allowed',
      'cost > free ? this.retryAfterMicros',
      'cost > free + 1 ? this.retryAfterMicros',
    ],
    [
      'an expired lease is renewed without a free slot',
      'if (!isLive && leases.usedUnits(state, nowMicros) + cost > this.limit) return false;',
      '',
    ],
    [
      'a lease is live at its end',
      'leases.untilOf(state, index) > nowMicros',
      'leases.untilOf(state, index) >= nowMicros',
    ],
    ['two checks of one microsecond get the same id', 'this.unusedId(state, nowMicros)', 'nowMicros'],
    ['a lease keeps its id in another life', 'Math.max(id, leases.newestIdOf(state) + 1)', 'id'],
    [
      'a record keeps expired leases',
      '    leases.dropExpired(state, nowMicros);\n    leases.insert',
      '    leases.insert',
    ],
  ]),
  ...of('core/src/slots/lease-list.ts', STATES, [
    [
      'a lease one lease ahead is implausible',
      '<= 2 * state.numbers[state.start + LATEST_LENGTH]!',
      '<= state.numbers[state.start + LATEST_LENGTH]!',
    ],
    [
      'a lease counts at its end',
      'if (untilOf(state, index) <= nowMicros) units',
      'if (untilOf(state, index) < nowMicros) units',
    ],
    [
      'leases in memory end',
      'state.diesWithProcess === true ? Infinity : nowMicros + lengthMicros',
      'nowMicros + lengthMicros',
    ],
    ['the sum keeps released units', 'numbers[start + UNITS]! += kept - numbers[at + LEASE_UNITS]!;', ''],
    [
      'the end of the key stays after a release',
      'if (untilMicros === numbers[start + LATEST] && untilMicros !== Infinity) findLatest(state);',
      '',
    ],
    ['expired leases stay in the sum', 'numbers[start + UNITS]! -= numbers[at + LEASE_UNITS]!;', ''],
    [
      'a lease that is inserted replaces the next one',
      'numbers.copyWithin(at + LEASE_SIZE, at, placeOf(state, leases));',
      '',
    ],
  ]),
  ...of('core/src/slots/lease-renewer.ts', LEASES, [
    [
      'an own clock reports no loss',
      'if (endMs - nowMs < TIMER_MS) this.#lose(holder);',
      'if (endMs - nowMs < TIMER_MS) this.#open.delete(holder);',
    ],
    ['a renewal sends all keys at once', 'const MAX_KEYS = 100;', 'const MAX_KEYS = Infinity;'],
    ['a released lease is renewed', 'part.filter((holder) => this.#open.has(holder))', 'part'],
    [
      'a part that hangs delays the others',
      'this.timers.inBackground(this.#periodMs / 10, () => this.#renewParts(parts, renewal))',
      '() => {}',
    ],
    ['a late reply undoes a later renewal', 'if (holder.extendedMs > sentMs) continue;', ''],
    ['a renewal counts from its reply', 'holder.extendedMs = sentMs;', 'holder.extendedMs = this.timers.clock.now();'],
    ['a renewal that found no slot is not reported', 'else if (this.#open.has(holder)) this.#lose(holder);', ''],
    [
      'a release after the end reports nothing',
      'if (holder.extendedMs + this.leaseMs - this.timers.clock.now() < TIMER_MS) this.onLost(holder);',
      '',
    ],
    ['leases are renewed once', 'this.#renewalMs = nowMs + this.#periodMs;\n', 'this.#renewalMs = Infinity;\n'],
    [
      'the end of a lease sets no timer',
      'const atMs = Math.min(this.#renewalMs, this.#firstEndMs);',
      'const atMs = this.#renewalMs;',
    ],
  ]),
  ...of('core/src/slots/held-slots.ts', LEASES, [
    ['a decision is released twice', 'if (this.#isReleased) return undefined;', ''],
    ['a release wakes no caller', '      wakeWaiters(store, () => this.names);', ''],
    [
      'a failed refund keeps the renewal',
      '    this.renewer?.delete(this);\n    return mapAwaitable',
      '    return mapAwaitable',
    ],
  ]),
  ...of('core/src/slots/slot-keeper.ts', LEASES, [
    ['a check without slots is renewed', 'hasLeases(limit) && costAt(costs, index) > 0 ?', 'hasLeases(limit) ?'],
    ['a failing part of a store fails all', '`${leaseMs} ${this.#store.partOfReceipt?.(receipt)}`', '`${leaseMs}`'],
  ]),
  ...of('core/src/slots/report-lease-loss.ts', LEASES, [
    ['an error of the callback ends the reports', '  } catch (error) {\n', '  } catch (error) {\n    throw error;\n'],
  ]),
  ...of('core/src/custom/create-store.ts', STATES, [
    ['a lease that was taken again cannot be released', 'Object.assign(hit, held[index]);', ''],
  ]),
  ...of('core/src/engine/engine.ts', STATES, [
    [
      'a settled lease takes all of its units again',
      'hit.wantedCost = Math.min(hit.wantedCost, toCost(hit));',
      'void hit;',
    ],
  ]),
  ...of('core/src/custom/renew-lease.ts', STATES, [
    ['a renewal takes released slots again', 'if (cost === 0) return { life, atMicros };', ''],
  ]),
  ...of('core/src/engine/recorded-hit.ts', STATES, [
    ['a moved lease is not found before its renewal ends', 'found ?? (moved && ', 'found ?? (false && '],
  ]),
  ...of('core/src/custom/transactions.ts', STATES, [
    ['a driver hides misuse', 'if (transaction.misuse !== undefined) throw transaction.misuse.error;', ''],
    ['a transaction that only reads deletes nothing', 'transaction.needsWrite ?', 'false ?'],
    ['a failure that is thrown at once counts as misuse', 'return Promise.reject(error);', 'throw error;'],
    ['a recovery goes unnoticed', 'this.#hasFailed ? Promise.resolve(result) : result', 'result'],
  ]),
  ...of('core/src/custom/transactions.ts', MISUSE, [
    ['a driver hides misuse in a promise', 'transaction.misuse === undefined ? error :', 'true ? error :'],
  ]),
  ...of('core/src/custom/transaction.ts', MISUSE, [
    ['misuse outlives a second attempt', 'this.misuse = undefined;\n', ''],
    ['a driver swallows misuse', 'if (this.misuse !== undefined) throw this.misuse.error;', ''],
  ]),
  ...of('core/src/failure/call-guard.ts', LEASES, [
    [
      'a renewal that fails goes unnoticed',
      "part.recordFailure(storeFailedError(thrown, part.connection), 0, 'writes');\n      throw",
      'throw',
    ],
  ]),
  ...of('core/src/failure/guarded-store.ts', LEASES, [
    [
      'a slow renewal marks the store as down',
      'this.#decisions.watch(renewed, this.partOfReceipt(receipts[0]))',
      'this.#guard(renewed, receipts[0], RETHROW)',
    ],
  ]),
  ...of('core/src/custom/transaction.ts', STATES, [
    ['a transaction that only reads writes', 'if (!this.isReadOnly) return changes;', 'return changes;'],
  ]),
  ...of('core/src/base/pending-result.ts', STATES, [
    ['no call is abandoned', 'this.listener?.isSettled === true', 'false'],
  ]),
  ...of('core/src/time/manual-clock.ts', CLOCK, [
    ['callbacks of one time run in reverse order', 'other.atMs > atMs', 'other.atMs >= atMs'],
    ['a callback runs at the end of the advance', 'nowMs = Math.max(nowMs, first.atMs);', 'nowMs = endMs;'],
    ['a callback in the past never runs', 'if (atMs <= nowMs) queueMicrotask(() => runUntil(nowMs));', ''],
  ]),
  ...of('redis/src/lua/program/renewals.lua', REDIS, [
    [
      'a renewal treats all keys as one',
      'while last < count and KEYS[first_key + last + 1] == key do',
      'while last < count do',
    ],
  ]),
  ...of('redis/src/lua/limits/concurrency.lua', REDIS, [
    ['a lease counts at its end', "'(' .. now_text", 'now_text'],
    [
      'a lease of several units counts once',
      "extra = extra + (string.match(member, '^%d+:%d+:(%d+)$') or 1) - 1",
      'extra = extra',
    ],
    ['the extra units of expired leases count', 'extra - extra_of(expired)', 'extra'],
    ['an expired lease leaves its extra units', '(state.live_extra or 0) + cost - 1)', '(state.live_extra or 0))'],
    ['a release leaves the extra units', 'extra - (cost - 1) + math.max(0, kept - 1))', 'extra)'],
    ['a settlement leaves no extra units', '+ math.max(0, kept - 1))', ')'],
    [
      'the mark outlives the last lease of several units',
      'if before and mark ~= before then',
      'if mark and before and mark ~= before then',
    ],
    ['an older mark counts as a lease', 'if older_ends and older_ends > now then used = used - 1 end', ''],
    ['rejections read all expired leases each time', 'mark = set_extra(key, mark, live_extra)\n', '\n'],
    ['one unit above the limit is allowed', 'elseif cost > free then wait', 'elseif cost > free + 1 then wait'],
    ['a lease that expired is renewed without a free slot', 'is_held = used + units <= limit', 'is_held = true'],
    ['a renewal does not count the slots that it has just taken', '        used = used + units\n', ''],
    [
      'a renewal of several units does not count them',
      'if not scores[place] then total_extra = total_extra + units - 1 end',
      '',
    ],
    [
      'a renewal keeps the lease of a broken clock',
      "    redis.call('UNLINK', key) -- All have ended, even if the clock steps back. Or a broken clock wrote it.\n",
      '',
    ],
    ['a settlement frees all units', 'if kept > 0 then redis.call', 'if false then redis.call'],
    [
      'a lease one lease ahead is implausible',
      "  if latest and latest - now > 2 * length then\n    redis.call('UNLINK', key) -- A broken clock wrote it.",
      "  if latest and latest - now > length then\n    redis.call('UNLINK', key) -- A broken clock wrote it.",
    ],
    [
      'expired leases stay in Redis',
      "rule.lease, cost))\n  redis.call('ZREMRANGEBYSCORE', key, '-inf', format_integer(now))\n",
      'rule.lease, cost))\n',
    ],
  ]),
  ...of('redis/src/changes/lease-renewal.ts', REDIS, [
    ['a lost lease is not reported', 'for (const receipt of lostReceipts) lost.add(receipt);', ''],
    [
      'a renewal does not repeat a settlement without a reply',
      'if (hit.formerCost !== undefined) add(settlementOf(receipt, hit, hit.formerCost, clockMicros));',
      '',
    ],
    [
      'a release misses the units before a settlement without a reply',
      'hit.formerCost === undefined ? [hit] : [hit, { ...hit, cost: hit.formerCost }]',
      '[hit]',
    ],
    ['a released lease is renewed', 'hit.cost > 0 && hit.ended === undefined', 'hit.ended === undefined'],
    [
      'only the first leases are renewed',
      'start < group.length; start += MAX_LEASES',
      'start < 1; start += MAX_LEASES',
    ],
  ]),
];

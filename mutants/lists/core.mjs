// Defects in the store in memory, in decisions, in waiting and in what happens when a store fails.

// The last one is slow, because it starts processes.
const STORE = [
  'packages/core/test/large-totals.test.ts',
  'packages/core/test/slab.test.ts',
  'packages/core/test/priority-queue.test.ts',
  'packages/core/test/full-store.test.ts',
  'packages/core/test/key-flood.test.ts',
  'packages/core/test/rate-limiter.test.ts',
  'packages/store-conformance/test/memory-store.test.ts',
  'packages/store-conformance/test/explorer.test.ts',
  'packages/core/test/memory-store.test.ts',
  'packages/core/test/long-keys.test.ts',
  'packages/core/test/memory-store-processes.test.ts',
];
/** On the implementation of the build for bundles. */
const BUNDLES = [
  'packages/core/test/memory-in-bundles.test.ts',
  'packages/store-conformance/test/memory-in-bundles.test.ts',
];
const MISUSE = ['packages/core/test/misuse-of-clocks.test.ts'];
const WAIT = [
  'packages/core/test/wait.test.ts',
  'packages/core/test/wait-signal.test.ts',
  'packages/core/test/wait-queues.test.ts',
  'packages/core/test/wait-shared.test.ts',
  'packages/core/test/checks-behind-waits.test.ts',
  'packages/core/test/wait-order.test.ts',
  'packages/core/test/wait-attempts.test.ts',
  'packages/core/test/wait-wakes.test.ts',
  'packages/core/test/wait-close.test.ts',
  'packages/core/test/scheduler.test.ts',
  'packages/http/test/delay-in-express.test.ts',
];
const FAILURE = [
  'packages/core/test/store-failure.test.ts',
  'packages/core/test/blocked-event-loop.test.ts',
  'packages/core/test/store-failure-outage.test.ts',
  'packages/core/test/silent-writes.test.ts',
  'packages/core/test/rolling-counter-outage.test.ts',
  'packages/core/test/held-slots.test.ts',
];

const of = (name, tests, mutants) =>
  mutants.map(([description, find, replace]) => {
    return { file: `packages/core/src/${name}.ts`, description, find, replace, tests };
  });

export const core = [
  ...of('engine/decide', STORE, [
    ['a rejected check is recorded', 'allowed || (rule.limit.countRejected && cost > 0)', 'true'],
    ['a peek records', 'owner === undefined ? [] : ', ''],
    ['one limit that allows is enough', 'checks.every(({ passed })', 'checks.some(({ passed })'],
  ]),
  ...of('engine/decide-one', STORE, [
    [
      'countRejected is ignored by a single limit',
      'if ((allowed && !limit.testsOnly) || limit.countRejected) {',
      'if (allowed && !limit.testsOnly) {',
    ],
    ['the hit of a single limit is not saved', 'states.save(state, limit);', ''],
  ]),
  ...of('engine/engine', STORE, [
    ["another store's decision is settled", ' && receipt.owner === this.#port', ''],
    ['a limit without a name in a settlement is refunded', '?? hit.cost);', '?? 0);'],
    ['a settlement records all of the actual cost', 'toCost(hit) - hit.cost', 'toCost(hit)'],
  ]),
  ...of('engine/recorded-hit', STORE, [['a refund is not saved', 'states.save(state, rule.limit);', '']]),
  ...of('engine/rule-check', STORE, [
    ['a cost of 0 is judged', 'if (cost === 0) verdict', 'if (cost < 0) verdict'],
    ['a cost of 0 is recorded', 'if (cost === 0) return RecordedHit.none', 'if (cost < 0) return RecordedHit.none'],
    ['a hit is not saved', 'states.save(state!, rule.limit);', ''],
  ]),
  ...of('memory/plain-window-check', STORE, [
    [
      'a hit counts for a microsecond too long',
      'while (oldestMicros <= startMicros) {',
      'while (oldestMicros < startMicros) {',
    ],
    ['another limit that recorded last is ignored', 'numbers[offset + RETENTION] !== windowMicros || ', ''],
    ['other costs are ignored', ' || numbers[offset + DROPPED] !== -1', ''],
    ['a clock that stepped back is accepted', 'newestMicros > nowMicros || ', ''],
    ['one action too many is allowed', 'if (left === limit) return reject', 'if (left === limit + 1) return reject'],
    [
      'the wait is that of the newest hit',
      'nextUnitMs = (oldestMicros - startMicros) / 1000;',
      'nextUnitMs = (newestMicros - startMicros) / 1000;',
    ],
    ['a hit is written behind the ring', 'place < capacity ? ring + place : ring + place - capacity', 'ring + place'],
    ['the newest time is lost', 'numbers[offset + NEWEST] = nowMicros;', ''],
    ['dropped hits still count', 'numbers[offset + HITS] = left + 1;', 'numbers[offset + HITS] = hits + 1;'],
    ['the start of the ring is lost', 'numbers[offset + FIRST] = first;', ''],
    ['the remaining units include the action', 'rule, limit - left - 1,', 'rule, limit - left,'],
    ['hits beyond a smaller limit are ignored', 'if (numbers[offset + HITS]! > limit) return undefined;', ''],
  ]),
  ...of('limits/rolling-window', STORE, [
    ['a window with countRejected is plain', ' && !countRejected && minDifferenceMicros', ' && minDifferenceMicros'],
    ['a window with a minDifference is plain', ' && minDifferenceMicros === 0', ''],
  ]),
  ...of('memory/plain-window-rule', STORE, [
    ['a full log stays full', '    grow(log, this.limit);\n', ''],
    ['a log that has moved is read at its old address', 'return log.address;', 'return address;'],
  ]),
  ...of('memory/plain-window-rules', STORE, [
    ['any single limit is a plain window', ' && hasPlainWindowRule(rule!.limit)', ''],
    ['a plan of several rules is a plain window', 'rules.length === 1 && ', ''],
    ['the rule of another plan decides', 'plan === this.#plan ?', 'this.#plan !== undefined ?'],
  ]),
  ...of('memory/plain-window-decision', STORE, [
    ['the decision of a plain window can be refunded twice', '    this.#receipt = left;\n', ''],
    [
      'the decision of a plain window takes a spent receipt for its rule',
      'if (!(receipt instanceof PlainWindowRule)) return receipt;',
      '',
    ],
  ]),
  ...of('engine/evaluate', STORE, [
    [
      'a rejected check reports a delay',
      'delayMs: allowed ? verdict.delayMicros / 1000 : 0',
      'delayMs: verdict.delayMicros / 1000',
    ],
    [
      'a wait is longer than the state is kept',
      'if (verdict.waitMicros > leftMicros && verdict.waitMicros < Infinity) verdict.waitMicros = leftMicros;',
      '',
    ],
    [
      'a reset is later than the expiry of the state',
      'if (verdict.resetMicros > leftMicros) verdict.resetMicros = leftMicros;',
      '',
    ],
    [
      'the next unit is free later than the expiry of the state',
      'if (verdict.nextUnitMicros > leftMicros) verdict.nextUnitMicros = leftMicros;',
      '',
    ],
    ['a cost above the limit waits until the state expires', ' && verdict.waitMicros < Infinity) verdict', ') verdict'],
  ]),
  ...of('store/stored-key', STORE, [
    [
      'a short key can equal the hash of a long one',
      '(length !== HASH_LENGTH || !key.startsWith(HASH_PREFIX))',
      'true',
    ],
    ['long keys of a record are kept whole', 'keys.every(isStoredAsIs) ? keys : keys.map(toStoredKey)', 'keys'],
  ]),
  ...of('memory/key-table', STORE, [
    [
      'an expired key is found at its expiry',
      'if (expiresMicros <= this.nowMicros) {',
      'if (expiresMicros < this.nowMicros) {',
    ],
    ['an implausible state stays', 'this.#namespaces.remove(entry); // Otherwise the state', '// Otherwise the state'],
    ['a check evicts an entry that it has read', 'this.#close(this.#entries[this.#opened]!);', ''],
    ['the queue keeps the later expiry of a key', 'this.#namespaces.move(entry, expiresMicros);', ''],
    [
      'a namespace with a longer grace keeps its place in the queue',
      '      namespace.lifecycle = limit;\n      this.#namespaces.requeue(namespace);\n',
      '      namespace.lifecycle = limit;\n',
    ],
    ['a receipt of an earlier life is refunded', 'if (entry.life !== life) {', 'if (false) {'],
    ['a key that was only read stays', '      entry.close(); // A later operation', '      // A later operation'],
  ]),
  ...of('memory/reclaimer', STORE, [
    [
      'keys that are still in use are swept',
      'if (expiresMicros > namespace.queue.microsAt(0)) this',
      'if (false) this',
    ],
    ['keys that were hit again are evicted', 'if (expiresMicros <= queue.microsAt(0)) return entry;', 'return entry;'],
    ['an eviction takes any number of steps', 'step < MOST_DEFERRALS', 'step < Infinity'],
    ['the last deferred key is evicted, not the first to expire', 'if (expiresMicros < firstMicros) {', 'if (true) {'],
    ['a check does not recognize its own entries', 'other.address === entry.address', 'false'],
    ['implausible keys are evicted last', 'implausible ?? ', ''],
  ]),
  ...of('memory/namespace', STORE, [
    ['plausible keys are evicted first', ' && !this.lifecycle.isPlausible(state, nowMicros)', ''],
    ['each search looks at the same keys', 'this.#lastTested = (this.#lastTested + 1)', 'this.#lastTested = 1'],
  ]),
  ...of('memory/entry', STORE, [
    ['the key keeps its old address', '    this.namespace.places.set(this.key, this.address);\n', ''],
    [
      'the queue keeps the old address',
      'if (this.queueIndex !== UNQUEUED) this.namespace.queue.setAddress',
      'if (0) this.namespace.queue.setAddress',
    ],
    ['an old block is never released', '    this.#slab.release(address);\n', ''],
  ]),
  ...of('memory/slab', STORE, [
    ['released blocks are not used again', 'if (offset === NONE) {', 'if (true) {'],
    ['an empty chunk cannot be used for another size', '      this.#retire(chunk);\n', ''],
    ['an empty chunk stays in the list of open chunks', 'else sizeClass.open.delete(chunk);', ''],
    [
      'a chunk keeps the block size of its earlier use',
      'this.#blockSizes[chunk.index] = blockSize;',
      'this.#blockSizes[chunk.index] ??= blockSize;',
    ],
    ['an empty chunk keeps its memory', '    this.#arrays[freed.index] = NO_NUMBERS;\n', ''],
    ['a chunk without memory gets none', 'this.#arrays[chunk.index] = array;', 'this.#arrays[chunk.index] ??= array;'],
  ]),
  ...of('memory/expiry-queue', STORE, [
    [
      'members move ahead of earlier ones',
      'this.#micros[parent]! <= micros) break',
      'this.#micros[parent]! >= micros) break',
    ],
    ['only first children move up', 'if (this.#micros[child]! < this.#micros[first]!) first = child;', ''],
    ['a removed key counts as queued', 'setQueueIndex(this.#slab, this.#addresses[index]!, UNQUEUED);', ''],
  ]),
  ...of('base/priority-queue', STORE, [
    ['members move ahead of earlier ones', 'parent.priority <= member.priority', 'parent.priority >= member.priority'],
    ['only left children move up', 'right.priority < left.priority ? right : left', 'false ? right : left'],
    ['the last member keeps the place of a removed one', '      this.set(last, last.priority);\n', ''],
  ]),
  ...of('memory/namespaces', STORE, [
    [
      'a small limit evicts its own keys in a flood of another',
      'namespace.places.size >= share ? namespace',
      'namespace.places.size > 0 ? namespace',
    ],
    [
      'a limit that has grown is not found as the largest',
      '    this.#sizes.set(namespace.sizeMember, -namespace.places.size);\n    if',
      '    if (namespace.sizeMember.queueIndex < 0) this.#sizes.set(namespace.sizeMember, -namespace.places.size);\n    if',
    ],
    [
      'a limit that has shrunk stays the largest',
      '      this.#sizes.set(namespace.sizeMember, -namespace.places.size);\n      return;',
      '      return;',
    ],
    ['the order of the namespaces ignores their grace', ' + namespace.graceMicros', ''],
    ['the count of entries never falls', '    this.#size -= 1;\n', ''],
    ['one key more than maxKeys is kept', 'size >= this.#maxKeys', 'size > this.#maxKeys'],
    ['each eviction emits a warning', 'this.#hasWarned = true;', ''],
  ]),
  ...of('memory/map-table.neutral', BUNDLES, [
    [
      'an expired key is found at its expiry',
      'entry.expiresMicros <= this.nowMicros',
      'entry.expiresMicros < this.nowMicros',
    ],
    ['an implausible state stays', 'this.#drop(entry); // Otherwise', '// Otherwise'],
    ['a receipt of an earlier life is refunded', 'entry?.life === life ?', 'entry !== undefined ?'],
    ['a key whose life has ended is added again', 'this.#entryOf(rule, key) ?? this.#add', 'this.#add'],
    ['the grace of a longer window is ignored', 'limit.keepMicros > entry', '0 > entry'],
    ['all lives of a key are one', '    this.#lives += 1;\n', ''],
    ['a state that is like new stays', 'if (entry.expiresMicros === -Infinity) this', 'if (0) this'],
    ['a check evicts an entry that it has read', 'this.#dequeue(entry); // So that', '// So that'],
    ['keys of the last operation are never evicted', 'for (const entry of this.#used) this.#enqueue(entry);', ''],
    ['a dropped key is queued again', 'if (namespace.places.get(key) !== entry) return;', ''],
    ['implausible keys are evicted last', 'source.findImplausible(this.nowMicros, (index) => queue.at(index)) ?? ', ''],
    ['keys are swept before their grace is over', 'first.priority > nowMicros', 'first.queue.firstMicros! > nowMicros'],
    ['an unused store keeps its expired keys', '    this.#idleSweep.start();\n', ''],
    ['a key keeps the whole header that it was cut out of', 'copyString(key)', 'key'],
  ]),
  ...of('decision/to-decision', STORE, [
    [
      'a limit that allowed may be the reported limit of a rejection',
      'if (one.allowed !== other.allowed) return !one.allowed;',
      '',
    ],
    [
      'the limit with the most remaining is reported',
      'return one.remaining < other.remaining;',
      'return one.remaining > other.remaining;',
    ],
    [
      'the wait is that of the reported limit',
      'retryAfterMs = Math.max(retryAfterMs, result.retryAfterMs);',
      'retryAfterMs = reported.retryAfterMs;',
    ],
    ['a rejection on several limits is allowed', 'allowed: violated === NO_LIMITS', 'allowed: true'],
  ]),
  ...of('decision/decision-with-receipt', STORE, [
    ['a rejection has a delay', '(allowed && result.delayMs) || 0', 'result.delayMs ?? 0'],
    ['a decision can be refunded twice', '    this.#receipt = left;\n', ''],
    [
      'the result of the limit has no reason',
      '{ violated, degraded, ...result }',
      '{ violated, degraded, reason, ...result }',
    ],
  ]),
  ...of(
    'validation/duration',
    ['packages/core/test/misuse.test.ts', ...STORE, 'test/docs.test.ts'],
    [
      ['text without a unit is accepted', ' && /[a-z]$/i.test(text) &&', ' &&'],
      ['zero is accepted as a duration', '(ms as number) > 0 &&', '(ms as number) >= 0 &&'],
    ],
  ),
  ...of('waiting/ticket', WAIT, [
    [
      'callers overtake each other',
      'this.isBehind = !!taken;\n    if (taken) this.#waitFor(taken);',
      'this.isBehind = false;',
    ],
    ['a caller that stops waiting wakes no other', 'if (first?.isBehind) first.woken.resolve();', ''],
    [
      'a caller holds up others at a limit that does not keep it',
      'if (this.#moves <= this.states.size) this.leave(state);',
      '',
    ],
    ['a caller that waits holds up nobody', 'this.leave(state);', 'this.leave();'],
    ['a caller that needs two limits waits for ever', 'if (this.#moves <= this.states.size) this', 'this'],
    ['a caller behind others is counted as passed', 'if (this.isBehind) this.#moves = 0;\n    else if', 'if'],
    [
      'a caller waits for the limit with the shortest wait',
      'limits[other]!.retryAfterMs - limits[one]!.retryAfterMs',
      'limits[one]!.retryAfterMs - limits[other]!.retryAfterMs',
    ],
    ['a limit with cost 0 holds up callers', 'if (units === 0) return;', ''],
    ['one more caller waits than `maxWaiting`', '.lastIndexOf(this) >= this', '.lastIndexOf(this) > this'],
    ['a caller that waits already is rejected by `maxWaiting`', '!this.hasWaited && holdersOf', 'holdersOf'],
  ]),
  ...of('waiting/check-at-tail', WAIT, [
    [
      'a check behind waiting callers takes their units',
      'if (ahead.every(({ length }) => length === 0))',
      'if (ahead.length > 0)',
    ],
    [
      'a check peeks for each call while callers wait for other keys',
      'if (ahead.every(({ length }) => length === 0)) return store.check(plan, keys, costs);',
      '',
    ],
    ['a check behind many callers waits too short', 'moreMs += windowMicros / 1000;', ''],
    ['a check waits as if no units were lost', 'sums[index - 1]! >= units - limit', 'sums[index - 1]! > units - limit'],
    ['a check behind callers has units left', 'remaining: 0, retryAfterMs', 'retryAfterMs'],
    [
      'a check is rejected although its turn has come',
      'isAllowed ? store.check(plan, keys, costs) : toDecision',
      'toDecision',
    ],
  ]),
  ...of('waiting/check-at-tail.neutral', WAIT, [
    ['a check in bundles takes the units of waiting callers', 'if (!isBehind) return', 'if (isBehind) return'],
  ]),
  ...of('time/start-order', WAIT, [
    ['a caller overtakes one whose decision was read late', 'last.startMs + ROUNDING_MS', '-Infinity'],
    [
      'a caller overtakes one whose start has passed',
      'if (delayMs === 0 && aheadMs.length === 0) return;',
      'if (delayMs === 0) return;',
    ],
    [
      'a caller waits for one of another limit',
      '(limit.canDelay && states.get(name)) || []',
      '(limit.canDelay && name) || []',
    ],
    [
      'a caller overtakes the others after a reset',
      'if (overtaken === undefined) return undefined;',
      'return undefined;',
    ],
    ['callers that have started delay the others', 'starts.splice(starts.indexOf(start), 1);', ''],
    [
      'a timeout ignores the callers ahead',
      'cancellation.throwIfTooLong(overtaken.startMs - repliedMs, repliedMs);',
      '',
    ],
    ['each limiter has its own starts', 'getOrInsert(startsByBackend, backend, () => new Map())', 'new Map()'],
  ]),
  ...of('waiting/wait-attempt', WAIT, [
    ['a waiting caller counts as an attempt', 'limit.countRejected || limit.canDelay', 'limit.canDelay'],
    ['a waiting caller takes a late start', 'limit.countRejected || limit.canDelay', 'limit.countRejected'],
    ['a caller that gives up during its check is charged', 'if (late.allowed) refundInBackground(limiter, late);', ''],
    ['a caller that gave up is charged', '  cancellation.throwIfCanceled();\n', ''],
  ]),
  ...of('waiting/accept-decision', WAIT, [
    ['a rejected attempt is published', 'decision.allowed && hasSubscribers()', 'hasSubscribers()'],
  ]),
  ...of('time/cancellation', WAIT, [
    ['a canceled caller waits on', 'this.#reject(this.#canceled.reason);', ''],
    ['a signal keeps its listener', 'this.#stopListening?.();', ''],
    ['the timer of a caller goes on', 'this.#stopTimer?.();', ''],
  ]),
  ...of(
    'limiter/rate-limiter',
    ['packages/core/test/rate-limiter.test.ts'],
    [
      [
        "a limiter closes the caller's store",
        'this.#ownsStore = options.store === undefined',
        'this.#ownsStore = true',
      ],
    ],
  ),
  ...of(
    'limiter/resolve-rate-limiter-options',
    ['packages/core/test/rate-limiter.test.ts', 'packages/core/test/misuse.test.ts'],
    [['any text is a policy', "validateOneOf('onStoreError', onStoreError, ON_STORE_ERROR)", 'onStoreError']],
  ),
  ...of('limiter/settlement', WAIT, [
    ['a refund or a settlement wakes no caller', 'const onUsed = () => wakeWaiters(', 'const onUsed = () => void ('],
  ]),
  ...of('limiter/settlement', MISUSE, [
    ['misuse spends a receipt', 'if (isMisuse(error)) onMisuse(error);', ''],
    ['misuse settles slots', 'if (held !== undefined) held.isSettled = false;', ''],
  ]),
  ...of(
    'failure/decide-by-policy',
    ['packages/core/test/fallback-limits.test.ts'],
    [['an outage ignores `fallbackLimits`', 'plan.fallback ?? plan', 'plan']],
  ),
  ...of(
    'failure/fallback-plan',
    ['packages/core/test/fallback-limits.test.ts'],
    [['a fallback may have another algorithm', ' && limit.algorithm === rule.limit.algorithm', '']],
  ),
  ...of('failure/call-guard', MISUSE, [
    ['a policy decides after misuse', 'if (isMisuse(thrown)) this.reject(thrown);\n    else ', ''],
  ]),
  ...of('time/clock', MISUSE, [
    ['a clock that throws is a failure of the store', 'throw invalidTime(`it threw', 'throw cause; void (`it threw'],
  ]),
  ...of('store/quota-waiters', WAIT, [
    [
      'a store without names wakes no caller',
      'store.namesOf?.(plan, keys) ?? plan.rules.map',
      'store.namesOf?.(plan, keys) ?? [].map',
    ],
    ['checks wait for callers that are about to be allowed', 'holders.some(({ hasWaited }) => hasWaited)', 'true'],
    ['each limiter has its own queues', 'getOrInsert(queuesByBackend, backendOf(store), () => new Map())', 'new Map()'],
    ['a caller that comes back to a limit is behind later ones', 'number >= waiter.number) place', 'number < 0) place'],
    ['callers that stop waiting stay in the queue', 'queue.splice(place, 1)', 'queue.slice()'],
  ]),
  ...of('waiting/wait-for-turn', WAIT, [
    [
      'a wait that cannot end in time rejects only after the timeout',
      'cancellation.throwIfTooLong(retryAfterMs, repliedMs);',
      '',
    ],
    ['a caller that gives up keeps its start', 'refundInBackground(call.limiter, decision);', ''],
    ['the delay of a caller holds up the next one', 'ticket.leave(); // The', ' // The'],
    [
      'a caller that has stopped waiting attempts',
      '      cancellation.throwIfCanceled();\n      if (queues)',
      '      if (queues)',
    ],
    [
      'a caller asks queues that have just failed',
      'queues = queues || decision.degraded',
      'queues = decision.degraded',
    ],
    [
      'a caller whose queues have failed never returns to them',
      '? undefined : store.waiting;',
      '? undefined : undefined;',
    ],
  ]),
  ...of('waiting/waiting-callers', WAIT, [
    ['a closed limiter lets callers wait', 'if (this.#isClosed) throw limiterClosed();', ''],
    ['callers wait on after the close', 'cancellation.cancel(limiterClosed());', 'void cancellation;'],
    ['callers that have waited stay in memory', 'this.#open.delete(cancellation);', ''],
  ]),
  ...of('time/scheduler', WAIT, [
    ['a delayed action starts a millisecond early', 'Math.ceil(delayMs * 1000)', 'Math.ceil(delayMs * 1000) - 1000'],
    [
      'all delayed actions start with the first',
      'first !== undefined && first.priority <= nowMicros',
      'first !== undefined',
    ],
    ['a canceled action still starts', '    queue.remove(scheduled);\n    setTimer();', '    setTimer();'],
  ]),
  ...of('failure/deadlines', FAILURE, [
    [
      'later calls have no deadline',
      'if (oldest !== undefined) this.#timer ??=',
      'if (oldest === undefined) this.#timer ??=',
    ],
    [
      'a pause of the process counts as silence of the store',
      'if (nowMs - dueMs > LONG_PAUSE_MS)',
      'if (nowMs - dueMs > 1e9)',
    ],
    ['a call is settled twice', 'if (call.isSettled) return false;', ''],
  ]),
  ...of('failure/part-health', FAILURE, [
    ['every call to a store that is down is a probe', 'if (nowMs < this.#probeDueMs) return false;', ''],
    [
      'probes do not become rarer',
      'Math.min(2 * this.#probeIntervalMs, MAX_PROBE_INTERVAL_MS)',
      'this.#probeIntervalMs',
    ],
    ['one reply ends an outage', 'if (nowMs - this.#lastFailureMs < OUTAGE_END_MS) return;', ''],
    ['a probe ends the silence of writes', "if (effect !== 'writes' && this.#areWritesSilent", 'if (false'],
    ['every reply to a peek allows a trial', " ||= effect === 'probes';", ' = true;'],
    ['no trial follows a probe', " ||= effect === 'probes';", ' ||= false;'],
    ['each check is a trial after a probe', "if (effect === 'writes') this.#isTrialDue = false;", ''],
    [
      'a store that is silent for peeks stays open for them',
      'this.#respondsToReads = this.#isTrialDue = false;\n    //',
      '{}\n    //',
    ],
    ['the silence of writes cuts off peeks', ': this.#respondsToReads;', ': false;'],
  ]),
  ...of('failure/call-guard', FAILURE, [
    [
      'a store that was silent for exactly the timeout is up',
      'if (timeoutMs <= part.unresponsiveForMs)',
      'if (timeoutMs < part.unresponsiveForMs)',
    ],
    ['a store that is down gets no probe', '      this.#probe(part, call);\n', ''],
    ['a late reply ends no outage', 'if (part.failingSinceMs !== undefined) {', 'if (!this.isSettled) {'],
    ['slots of a late reply stay taken', 'else handler.onLate?.(result, call);', ''],
    ['a thenable that throws waits for its deadline', 'this.fail(thrown); // otherwise', '// otherwise'],
  ]),
  ...of('failure/guarded-store', FAILURE, [
    ['a reset does not reset the fallback', 'this.#decisions.health.resetFallback(plan, keys);', ''],
    [
      'a decision of the fallback is not refunded',
      'return this.#fallback.refund(receipt.receipt);',
      'return undefined;',
    ],
  ]),
  ...of('failure/decide-by-policy', FAILURE, [
    [
      'the policy "throw" allows',
      "if (policy === 'throw' ||",
      "if (policy === 'throw') return decideUniformly('allow', plan);\n  if (",
    ],
    ['the policy "deny" reports no wait', 'retryAfterMs: waitMs,', 'retryAfterMs: 0,'],
    ['a peek of the fallback is a check', 'memory()[operation](plan', "memory()['check'](plan"],
  ]),
];

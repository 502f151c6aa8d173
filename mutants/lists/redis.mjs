// Defects in the TypeScript of @rollgate/redis: batches, receipts, keys and the denial cache.

const test = (name) => `packages/redis/test/${name}.test.ts`;

const BATCHES = ['script-slices', 'sharing', 'batching', 'memory-parity', 'algorithms'].map(test);
const DENIALS = ['sharing', 'denial-cache', 'memory-parity', 'simulation'].map(test);
const RECEIPTS = [test('resent'), ...BATCHES, test('far-refunds')];
const GLIDE = [test('glide-cluster')];
const KEYS = ['key-names', 'odd-keys', 'algorithms'].map(test);

const of = (name, tests, mutants) =>
  mutants.map(([description, find, replace]) => {
    return { file: `packages/redis/src/${name}.ts`, description, find, replace, tests };
  });

export const redis = [
  ...of('sending/batcher', BATCHES, [
    ['a large batch is sent more than once', 'items.slice(start, start + MAX_ITEMS)', 'items.slice(start)'],
    ['all of a large batch goes into one script', 'const MAX_ITEMS = 100;', 'const MAX_ITEMS = 1_000_000;'],
    [
      'an item overtakes the half that waits',
      'this.#sendFirst(isHalved ? count >> 1 : count);',
      'this.#waiting.unshift(...this.#waiting.splice(-1));\n    this.#sendFirst(isHalved ? count >> 1 : count);',
    ],
    ['half a batch waits for a silent server', 'setTimeout(this.#stopHolding, MAX_HOLD_MS)', 'undefined'],
    [
      'batches are halved although replies are slow',
      '    this.#lockstep.reset();\n    this.#release();',
      '    this.#release();',
    ],
  ]),
  ...of('sending/lockstep', BATCHES, [
    ['batches are never halved', 'this.#count > MIN_LOCKSTEPS', 'this.#count > Infinity'],
    ['small batches are halved', ' && itemCount >= MIN_HALVED', ''],
  ]),
  ...of('clients/ioredis-command-class', ['replaced-methods', 'client-options'].map(test), [
    ['a method that was replaced before misses scripts', 'String(evalsha) !== String(client.evalsha)', 'false'],
    ['characters are counted as bytes', 'Buffer.byteLength(text) === text.length', 'true'],
  ]),
  ...of('clients/ioredis-commands', ['replaced-methods', 'client-options'].map(test), [
    ['a method that is replaced later misses scripts', 'client.evalsha !== evalsha || ', ''],
    ['a prefix of the client is dropped', '{ keyPrefix, replyEncoding', '{ replyEncoding'],
    ['a script misses its automatic pipeline', ' || enableAutoPipelining', ''],
  ]),
  ...of('clients/glide-redelivery', GLIDE, [
    ['slots that move wait for each other', 'redirectedSlotOf(error);', 'redirectedSlotOf(error) && "";'],
    ['commands wait for a moving slot forever', 'performance.now() - sinceMs > MAX_WAIT_MS', 'false'],
    ['commands without a caller are sent to a silent node', 'if (this.#broken !== undefined)', 'if (false)'],
    ['one error of a node fails the commands behind it', 'REPLIED.test(error.message)', 'false'],
  ]),
  ...of('clients/glide-topology', GLIDE, [
    ['a timeout of GLIDE counts as a slot that moves', 'if (moves.includes(`[${slot}-`)) return true', 'return true'],
    ['the reply of another node counts', '|| isServedBy(moves, slot)', '|| true'],
  ]),
  ...of('sending/operation-sender', BATCHES, [
    ['half a batch waits until a reply is read', 'if (doneCount === operations.length) onReply();', ''],
    [
      'operations that a script left are not sent again',
      'if (doneCount < operations.length) await',
      'if (doneCount < 0) await',
    ],
    ['a failed operation gets a result', 'if (error === undefined) settle', 'if (true) settle'],
  ]),
  ...of(
    'sending/operation-sender',
    [test('faults-read-only')],
    [
      ['what a read-only server rejects is not sent again', 'isReadOnly(error) &&', 'false &&'],
      [
        'all of a batch that a read-only server rejects is sent again',
        '#send(sentAgain, onReply',
        '#send(operations, onReply',
      ],
    ],
  ),
  ...of(
    'sending/operation-sender',
    [test('cluster')],
    [['a check of a key that a reset has deleted while its hash slot moves fails', 'hasLostKey(error) &&', 'false &&']],
  ),
  ...of(
    'script/script-arguments',
    [test('plain-window-check'), ...RECEIPTS],
    [
      ['checks of different costs are sent as one', 'areSameCosts(one.costs, other.costs) &&', ''],
      ['a refund names the previous rule', '=> [index + 1, atMicros', '=> [index, atMicros'],
      ['repeated checks are counted as one', "values.push('plain', String(times),", "values.push('plain', '1',"],
      ['a check of plain windows has the time of the server', "String(clockMicros ?? '')", "''"],
      ['a higher cost counts as one', "typeof costs === 'number' ? costs : 0)", "typeof costs === 'number' ? 1 : 0)"],
      ['a limit without a cost records', '(cost) => cost > 0', '() => true'],
      [
        'a peek records',
        "operation.kind !== 'check' ||",
        "(operation.kind !== 'check' && operation.kind !== 'peek') ||",
      ],
      ['a refund always has the time of the server', '[number, clockMicros ?? false, stamp', '[number, false, stamp'],
    ],
  ),
  ...of('script/check-result', RECEIPTS, [
    ['a receipt omits how far ahead its hit is', 'hasRecorded ? nowMicros + ahead : 0', 'hasRecorded ? nowMicros : 0'],
    ['a receipt omits its cost', ' : 0, cost });', ' : 0, cost: 1 });'],
    ['the reason is always the limit', "delay === TOO_SOON ? 'minDifference' : 'limit'", "'limit'"],
  ]),
  ...of('script/check-result', ['vectors', 'algorithms', 'denial-cache'].map(test), [
    ['slots have a next unit', 'holdsSlots ? undefined : figures.nextUnit / 1000', 'figures.nextUnit / 1000'],
    ['a rejection is kept beyond the next free unit', ', nextUnit === 0 ? Infinity : nextUnit)', ')'],
  ]),
  ...of('script/figures', ['plain-window-check', 'vectors', 'memory-parity'].map(test), [
    [
      'the next unit has the units that remain',
      'nextUnit: (both - remaining) / (limit + 1)',
      'nextUnit: both / (limit + 1)',
    ],
    [
      'letters after two numbers are ignored',
      'nextUnit: letters ?? orInfinity(second) }',
      'nextUnit: orInfinity(second) }',
    ],
  ]),
  ...of('script/script-reply', ['plain-window-check', 'vectors'].map(test), [
    [
      'the digits are read from the highest one',
      'number += (code - ZERO_LETTER) * unit',
      'number = number * 64 + code - ZERO_LETTER',
    ],
  ]),
  ...of('script/figures', ['malformed-replies'].map(test), [
    ['an amount may be negative', 'remaining >= 0 && ', ''],
    ['a unit may be free after the reset', ' && nextUnit <= reset', ''],
  ]),
  ...of('script/script-reply', RECEIPTS, [['all operations of a batch have one stamp', '    this.#stamp += 1;\n', '']]),
  ...of(
    'script/script-reply',
    [test('malformed-replies')],
    [
      ['a reply may have more results than operations', 'if (this.length > operationCount)', 'if (false)'],
      ['only the first line is validated', ')*))+$/', ')*))+/'],
      ['a number may be inexact', '!Number.isSafeInteger(number) || ', ''],
    ],
  ),
  ...of('denials/denial', DENIALS, [
    ['a rejection outlives its stable time', 'sinceSent < stableMicros && nowMicros', 'nowMicros'],
    ['a rejection outlives its greatest age', ' && nowMs < expiresMs;', ';'],
    [
      'waits run down too fast',
      '{ limitDecisions, receivedMicros }: Denial',
      '{ limitDecisions, sentMicros: receivedMicros }: Denial',
    ],
  ]),
  ...of(
    'denials/denial-groups',
    [test('denial-groups'), ...DENIALS],
    [['keys of dropped rejections are kept', 'if (groups?.size === 0) this.#groupsOfKeys.delete(key);', '']],
  ),
  ...of('denials/denial-cache', DENIALS, [
    [
      'a rejection outlives a change of its keys',
      'for (const group of this.#groups.ofKeys(keys)) this.#dropGroup(group);',
      '',
    ],
    ['rejections of limits that count them are kept', '!encodedPlan.isCacheable || receivedMicros', 'receivedMicros'],
    [
      'one rejection more than maxKeys is kept',
      'if (this.#denials.size < this.#maxKeys) return;',
      'if (this.#denials.size <= this.#maxKeys) return;',
    ],
    ['a full cache drops all', 'Math.ceil(this.#maxKeys / DENIALS_PER_DROP)', 'this.#maxKeys'],
    ['a full cache drops half', 'const DENIALS_PER_DROP = 500', 'const DENIALS_PER_DROP = 2'],
    [
      'rejections of other costs are mixed up',
      'group.denials.get(denialCostOf(costs));\n    if (denial === undefined)',
      'first(group.denials.values());\n    if (denial === undefined)',
    ],
  ]),
  ...of('denials/denial-estimate', DENIALS, [
    [
      'a cost above the limit waits until the reset',
      "if (cost > limit) return { reason: 'limit', retryAfterMs: Infinity };",
      '',
    ],
    [
      'a smaller cost that fits is rejected',
      'return cost <= known.remaining || knownCost > limit;',
      'return knownCost > limit;',
    ],
  ]),
  ...of('denials/denial-cache', DENIALS, [
    [
      'a rejection is served after a local record',
      "check.kind === 'check' ? result.receipt !== undefined : allowed",
      "check.kind !== 'check' && allowed",
    ],
    [
      'a rejection of a check that was sent before a reset is cached after it',
      "check.kind !== 'check' || check.changeCount !== this.changeCount",
      "check.kind !== 'check'",
    ],
  ]),
  ...of('denials/denial-cache', DENIALS, [
    [
      'a reset leaves the rejections',
      '    this.changeCount += 1;\n    this.invalidate(keys);',
      '    this.changeCount += 1;',
    ],
    ['a clock that steps back leaves the rejections', '    this.#denials.clear();\n    this.#groups.clear();\n', ''],
  ]),
  ...of('operations/plan-encoder', DENIALS, [
    ['a limit that counts rejected attempts is cached', '!limit.countRejected && ', ''],
  ]),
  ...of(
    'operations/algorithm-registry',
    [...BATCHES],
    [['countRejected does not reach Redis', 'countRejected ? 1 : 0', '0']],
  ),
  ...of(
    'operations/redis-keys',
    [...KEYS, test('cluster')],
    [
      ['an empty key is an empty pair of braces', "if (text === '') return '%';", ''],
      ['special characters share a code', 'code < 256 ? `%${hex(code, 2)}`', "code < 256 ? '%00'"],
      ['algorithms share their keys', 'name + keySuffixOf(limit)', 'name'],
      [
        'a Cluster accepts different keys although each key determines its slot',
        "if (clusterSlot === 'key' && typeof keys !== 'string') requireEqual(keys);",
        '',
      ],
    ],
  ),
];

import { randomUUID } from 'node:crypto';
import { limitOf, minuteLimit, withQuotas } from '../algorithms.js';
import { assertSame } from '../assert-same.js';
import { toPlainDecision } from '../expected-decision.js';
import { type CheckContext, createLimiter, type Requirement } from './check.js';
import { countingStore, createCounter } from './rolling-counter.js';

const long = (length: number, end: string) => 'x'.repeat(length - 1) + end;

/** Keys that a database may confuse with another one of this list. */
export const KEYS: readonly string[] = [
  ...['ann', 'Ann', 'ANN', 'ann ', ' ann', 'ann\t', 'ann\n', 'ann\0', 'a\0nn'],
  ...['ánn', 'a\u0301nn', 'änn', 'ａnn', 'ss', 'ß', 'I', 'i', 'ı', 'İ'],
  ...['😀', '😁', '\ud800', '\ud801', '\ufffd', '?', '\u200b', '\u00a0', ' '],
  ...["'", '"', '`', '\\', '\\\\', '%', '_', '*', '{a}', '{a}:b', 'a', 'a:b', 'a/b', '[1,"a"]', '$a', '$1'],
  ...['1', '01', '1.0', '1e0', 'null', 'undefined', 'true', '__proto__', 'constructor'],
  // Longer than the columns of some tables, and longer than what stores keep without a hash.
  ...[50, 100, 200, 201, 1000].flatMap((length) => [long(length, 'a'), long(length, 'b')]),
];

const describeKey = (key: string) =>
  JSON.stringify(key.length > 60 ? `${key.slice(0, 20)}… (${key.length} characters)` : key);

/** Every key has its own full quota. */
async function expectSeparateKeys(context: CheckContext): Promise<void> {
  for (const algorithm of withQuotas(context.algorithms)) {
    const limiter = createLimiter(context, limitOf(minuteLimit(algorithm, 1)));
    const [first] = KEYS;
    const expected = toPlainDecision(await limiter.check(first!));
    for (const key of KEYS.slice(1)) {
      const decision = toPlainDecision(await limiter.check(key));
      assertSame(decision, expected, () => `First check of the key ${describeKey(key)}, which is like another one`);
    }
  }
}

async function expectSeparateLimits(context: CheckContext): Promise<void> {
  for (const algorithm of withQuotas(context.algorithms)) {
    const limit = limitOf(minuteLimit(algorithm, 5));
    const prefix = `run-${randomUUID()}`;
    const limiter = createLimiter(context, { one: limit, One: limit }, `${prefix}-a`);
    const { one, One } = (await limiter.check('ann', { cost: { one: 1, One: 2 } })).limits;
    assertSame(one.remaining - One.remaining, 1, () => `Units left to the limit \`one\`, more than to \`One\``);
    const other = createLimiter(context, { one: limit, One: limit }, `${prefix}-A`);
    const { limits } = await other.check('ann', { cost: { one: 1, One: 2 } });
    assertSame({ ...limits.One }, { ...One }, () => 'The first check with a prefix that differs in case');
  }
}

/** `peek`, `charge` and `reset` with the key of one limit leave the other one as it is. */
async function expectKeysOfSomeLimits(context: CheckContext): Promise<void> {
  for (const algorithm of withQuotas(context.algorithms)) {
    const limit = limitOf(minuteLimit(algorithm, 9));
    const limiter = createLimiter(context, { account: limit, address: limit });
    // A Cluster may refuse different keys in one check.
    await limiter.check('ann', { cost: 3 });
    const before = await limiter.peek('ann');
    const expectLimits = async (account: unknown, address: unknown, call: string) => {
      const { limits } = await limiter.peek('ann');
      assertSame({ ...limits.account }, account, () => `\`account\` of ${algorithm} after ${call}`);
      assertSame({ ...limits.address }, address, () => `\`address\` of ${algorithm} after ${call}`);
    };
    const peeked = await limiter.peek({ account: 'ann' });
    assertSame(Object.keys(peeked.limits), ['account'], () => 'The limits of a peek with the key of `account`');
    assertSame({ ...peeked.limits.account }, { ...before.limits.account }, () => 'That peek');
    const charged = await limiter.charge({ address: 'ann' }, { cost: 2 });
    const { address } = charged.limits;
    assertSame(Object.keys(charged.limits), ['address'], () => 'The limits of a charge with the key of `address`');
    await expectLimits({ ...before.limits.account }, { ...address }, 'a charge of `address`');
    await limiter.reset({ account: 'ann' });
    const fresh = (await limiter.peek({ account: 'bob' })).limits.account;
    await expectLimits({ ...fresh }, { ...address }, 'a reset of `account`');
  }
}

/** A refund with the key of one limit leaves the other one as it is, also of slots. */
async function expectRefundOfSomeLimits(context: CheckContext): Promise<void> {
  for (const algorithm of withQuotas(context.algorithms)) {
    const limit = limitOf(minuteLimit(algorithm, 9));
    const limiter = createLimiter(context, { account: limit, address: limit });
    const left = async (decision = limiter.peek('ann')) => {
      const { account, address } = (await decision).limits;
      return [account.remaining, address.remaining];
    };
    const [fresh] = await left();
    const decision = await limiter.check('ann', { cost: 2 });
    const [, used] = await left();
    await limiter.refund(decision, { account: 'ann' });
    assertSame(await left(), [fresh, used], () => `Units of ${algorithm} after a refund with the key of \`account\``);
    await limiter.refund(decision);
    assertSame(await left(), [fresh, used], () => `Units of ${algorithm} after a second refund`);
  }
}

async function expectSeparateSubjects(context: CheckContext): Promise<void> {
  const counter = createCounter(countingStore(context), {
    bucketInterval: 5000,
    bucketSpan: 60_000,
    subjectExpiry: 60_000,
  });
  for (const subject of KEYS) {
    const count = await counter.addCount(subject, 60_000);
    assertSame(count, 1, () => `First count of the subject ${describeKey(subject)}, which is like another one`);
  }
}

export const separateKeys: readonly Requirement[] = [
  {
    name: 'keys count apart if they differ in case, accents, spaces, special characters or their end',
    verify: expectSeparateKeys,
  },
  { name: 'limits and prefixes count apart if they differ in case', verify: expectSeparateLimits },
  {
    name: 'a peek, a charge or a reset with the keys of some limits leaves the others',
    verify: expectKeysOfSomeLimits,
  },
  { name: 'a refund with the keys of some limits leaves the others', verify: expectRefundOfSomeLimits },
  {
    name: 'RollingCounter counts subjects apart if they differ in case, accents, spaces, special characters or their end',
    needs: ['rollingCounter'],
    verify: expectSeparateSubjects,
  },
];

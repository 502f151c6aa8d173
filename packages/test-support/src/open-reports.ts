import { concurrency, type Decision, type ManualClock, rollingWindow, type Store } from '@rollgate/core';
import { OutgoingLimiter, reportedQuota } from '@rollgate/fetch/outgoing';
import { createRandom } from './random.js';

const lease = '6s';
const quota = reportedQuota({ lease, guess: 3 });
const quotas = { requests: quota, tokens: quota };
const own = { budget: rollingWindow({ limit: 40, window: '10s' }), slots: concurrency({ limit: 4, lease }) };
const early = { early: concurrency({ limit: 3, lease }) };
const limits = { ...own, ...early, ...quotas };
type Name = keyof typeof limits;

/** A call that is open at least in the user's own limits. */
interface Call {
  readonly decision: Decision<Name>;
  /** Its checks by the limiters of the naive model. */
  readonly parts: readonly [Decision<keyof typeof quotas>, Decision<keyof typeof own>, Decision<'early'>];
  isReported: boolean;
  isEarlyOpen: boolean;
}

const figuresOf = ({ limits: named }: Decision<string>) =>
  Object.entries(named).map(([name, { spent, reserved, remaining }]) => [name, spent, reserved, remaining]);

/** Counts the leases that a limiter still renews in two seconds, the time between two renewals. */
async function renewedLeases(store: Store, clock: ManualClock, limiter: OutgoingLimiter): Promise<number> {
  const { renew } = store;
  if (renew === undefined) return 0;
  let renewed = 0;
  store.renew = (receipts) => {
    renewed += receipts.length;
    return renew.call(store, receipts);
  };
  clock.advance(2000);
  await limiter.peek('k'); // Renewals are sent first.
  store.renew = renew;
  return renewed;
}

/**
 * Compares a limiter whose calls stay open after `report` with a naive model of three limiters. One has the reported quotas alone, and
 * closes a call when its response arrives. The second one has the other limits, and closes it when its body has arrived. The third
 * one has slots that some calls free with the response, and others with the body. In the end, no lease may be renewed.
 *
 * @param turns How many random steps to take.
 */
export async function compareOpenReports(store: Store, clock: ManualClock, seed: number, turns: number): Promise<void> {
  const options = { store, timeout: '30s' } as const;
  const limiter = new OutgoingLimiter({ ...options, limits, prefix: `open ${seed}` });
  const ofServer = new OutgoingLimiter({ ...options, limits: quotas, prefix: `of server ${seed}` });
  const ofUser = new OutgoingLimiter({ ...options, limits: own, prefix: `of user ${seed}` });
  const ofEarly = new OutgoingLimiter({ ...options, limits: early, prefix: `of early ${seed}` });
  const random = createRandom(seed);
  const upTo = (most: number) => Math.floor(random() * (most + 1));
  const calls: Call[] = [];

  const check = async () => {
    const [tokens, units] = [{ tokens: upTo(9) }, { budget: 1 + upTo(9) }];
    const parts = await Promise.all([ofServer.peek('k', { cost: tokens }), ofUser.peek('k', { cost: units }), ofEarly.peek('k')]); // biome-ignore format: short
    const allowed = parts.every((part) => part.allowed);
    const decision = await limiter.check('k', { cost: { ...tokens, ...units } });
    if (decision.allowed !== allowed) throw new Error(`Seed ${seed}: expected the call to be allowed: ${allowed}`);
    if (!allowed) return;
    const checks = await Promise.all([ofServer.check('k', { cost: tokens }), ofUser.check('k', { cost: units }), ofEarly.check('k')]); // biome-ignore format: short
    calls.push({ decision, parts: checks, isReported: false, isEarlyOpen: true });
  };
  const report = async (call: Call) => {
    const resetMs = 1 + upTo(5000);
    const tokens = { remaining: upTo(60), limit: 60, resetMs, kind: 'refill', reserve: upTo(3) } as const;
    const reported = { ...(upTo(1) > 0 && { requests: { remaining: upTo(9), limit: 9, resetMs } }), tokens };
    const cost = { requests: upTo(2) };
    const isFreed = upTo(1) > 0;
    // A second report of the same call changes nothing in the reported quotas.
    await limiter.report(call.decision, { reported, cost: { ...cost, ...(isFreed && { early: 0 }) }, keepOpen: true });
    if (!call.isReported) await ofServer.report(call.parts[0], { reported, cost });
    if (isFreed) {
      await ofEarly.release(call.parts[2]);
      call.isEarlyOpen = false;
    }
    call.isReported = true;
  };
  const end = async (call: Call) => {
    calls.splice(calls.indexOf(call), 1);
    if (!call.isReported) await report(call);
    const [cost, way] = [{ budget: upTo(20), slots: 0 }, upTo(2)];
    if (way === 0) await Promise.all([limiter.release(call.decision), ofUser.release(call.parts[1])]);
    else if (way === 1) await Promise.all([limiter.refund(call.decision), ofUser.refund(call.parts[1])]);
    else {
      await limiter.settle(call.decision, { cost: { ...cost, ...(call.isEarlyOpen && { early: 0 }) } });
      await ofUser.settle(call.parts[1], { cost });
    }
    await ofEarly.release(call.parts[2]);
  };

  for (let turn = 0; turn < turns; turn++) {
    const call = calls[upTo(calls.length - 1)];
    const step = upTo(9);
    if (step < 3 || call === undefined) await check();
    else if (step < 5) await report(call);
    else if (step < 6) await end(call);
    else clock.advance(upTo(1900)); // Leases are renewed every two seconds.
    const model = await Promise.all([ofUser, ofEarly, ofServer].map((one) => one.peek('k')));
    const expected = model.flatMap(figuresOf);
    const got = figuresOf(await limiter.peek('k'));
    if (JSON.stringify(got) !== JSON.stringify(expected))
      throw new Error(`Seed ${seed}, turn ${turn}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(got)}`);
  }
  for (const call of [...calls]) await end(call);
  const renewed = await renewedLeases(store, clock, limiter);
  if (renewed > 0) throw new Error(`Seed ${seed}: ${renewed} leases of closed calls were renewed`);
  await Promise.all([limiter, ofServer, ofUser, ofEarly].map((one) => one.close()));
}

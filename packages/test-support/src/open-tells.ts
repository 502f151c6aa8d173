import { concurrency, type Decision, type ManualClock, rollingWindow, type Store } from '@rollgate/core';
import { OutgoingLimiter, toldQuota } from '@rollgate/core/outgoing';
import { createRandom } from './random.js';

const lease = '6s';
const quota = toldQuota({ lease, guess: 3 });
const reported = { requests: quota, tokens: quota };
const own = { budget: rollingWindow({ limit: 40, window: '10s' }), slots: concurrency({ limit: 4, lease }) };
const limits = { ...own, ...reported };
type Name = keyof typeof limits;

/** A call that is open at least in the user's own limits. `parts` are its checks by the limiters of the naive model. */
interface Call {
  readonly decision: Decision<Name>;
  readonly parts: readonly [Decision<keyof typeof reported>, Decision<keyof typeof own>];
  isTold: boolean;
}

const figuresOf = ({ limits: named }: Decision<string>) =>
  Object.entries(named).map(([name, { spent, reserved, remaining }]) => [name, spent, reserved, remaining]);

/**
 * Compares a limiter whose calls stay open after `tell` with a naive model of two limiters. One has the reported quotas alone, and
 * closes a call when its response arrives. The other one has the other limits, and closes it when its body has arrived.
 *
 * @param turns How many random steps to take.
 */
export async function compareOpenTells(store: Store, clock: ManualClock, seed: number, turns: number): Promise<void> {
  const options = { store, timeout: '30s' } as const;
  const limiter = new OutgoingLimiter({ ...options, limits, prefix: `open ${seed}` });
  const ofServer = new OutgoingLimiter({ ...options, limits: reported, prefix: `of server ${seed}` });
  const ofUser = new OutgoingLimiter({ ...options, limits: own, prefix: `of user ${seed}` });
  const random = createRandom(seed);
  const upTo = (most: number) => Math.floor(random() * (most + 1));
  const calls: Call[] = [];

  const check = async () => {
    const [tokens, budget] = [upTo(9), 1 + upTo(9)];
    const allowed = (await ofServer.peek('k', { cost: { tokens } })).allowed && (await ofUser.peek('k', { cost: { budget } })).allowed; // biome-ignore format: short
    const decision = await limiter.check('k', { cost: { tokens, budget } });
    if (decision.allowed !== allowed) throw new Error(`Seed ${seed}: expected the call to be allowed: ${allowed}`);
    if (!allowed) return;
    const parts = [await ofServer.check('k', { cost: { tokens } }), await ofUser.check('k', { cost: { budget } })] as const; // biome-ignore format: short
    calls.push({ decision, parts, isTold: false });
  };
  const tell = async (call: Call) => {
    const resetMs = 1 + upTo(5000);
    const tokens = { remaining: upTo(60), limit: 60, resetMs, kind: 'refill', reserve: upTo(3) } as const;
    const told = { ...(upTo(1) > 0 && { requests: { remaining: upTo(9), limit: 9, resetMs } }), tokens };
    const cost = { requests: upTo(2) };
    // A second report of the same call changes nothing.
    await limiter.tell(call.decision, { told, cost, keepOpen: true });
    if (!call.isTold) await ofServer.tell(call.parts[0], { told, cost });
    call.isTold = true;
  };
  const end = async (call: Call) => {
    const [cost, way] = [{ budget: upTo(20), slots: 0 }, upTo(2)];
    calls.splice(calls.indexOf(call), 1);
    if (!call.isTold) await tell(call);
    if (way === 0) await Promise.all([limiter.release(call.decision), ofUser.release(call.parts[1])]);
    else if (way === 1) await Promise.all([limiter.refund(call.decision), ofUser.refund(call.parts[1])]);
    else await Promise.all([limiter.settle(call.decision, { cost }), ofUser.settle(call.parts[1], { cost })]);
  };

  for (let turn = 0; turn < turns; turn++) {
    const call = calls[upTo(calls.length - 1)];
    const step = upTo(9);
    if (step < 3 || call === undefined) await check();
    else if (step < 5) await tell(call);
    else if (step < 6) await end(call);
    else clock.advance(upTo(1900)); // Leases are renewed every two seconds.
    const expected = [...figuresOf(await ofUser.peek('k')), ...figuresOf(await ofServer.peek('k'))];
    const got = figuresOf(await limiter.peek('k'));
    if (JSON.stringify(got) !== JSON.stringify(expected))
      throw new Error(`Seed ${seed}, turn ${turn}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(got)}`);
  }
  await Promise.all([limiter.close(), ofServer.close(), ofUser.close()]);
}

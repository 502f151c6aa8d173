import { setTimeout as sleep } from 'node:timers/promises';
import { toFigure, whole } from '../../table.js';
import { PrivateRedis } from '../private-redis.js';
import { countAllowed, type Probe } from '../probe.js';

const WINDOW_MS = 1000;

export const lateRefund: Probe = {
  title: 'allowed after 5 late refunds, limit 10',
  method:
    'Sends five requests, refunds them after the window has ended, and then sends 30 more. The refunds should change nothing, so 10 of the 30 should be allowed.',
  async run({ inRedis }) {
    if (inRedis === undefined) return undefined;
    const limiter = await inRedis({ limit: 10, windowMs: WINDOW_MS }, await PrivateRedis.start());
    const outcomes = [];
    for (let request = 0; request < 5; request++) outcomes.push(await limiter.check('192.0.2.1'));
    if (outcomes[0]!.refund === undefined) return undefined;
    await sleep(2 * WINDOW_MS);
    for (const { refund } of outcomes) await refund!();
    return toFigure(await countAllowed(limiter, '192.0.2.1', 30), whole);
  },
};

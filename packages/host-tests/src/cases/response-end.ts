import { until } from '@rollgate/test-support';
import { type Case, peek, send, statuses, untilRemaining, withBehavior } from './case.js';

/** What happens when a response ends: refunds, released slots and settlements. */
export const responseEnd: Readonly<Record<string, Case>> = {
  async 'a HEAD request releases its slot and can be refunded'(host) {
    const head = { method: 'HEAD' };
    expect(await statuses(host, 'slots', 1, head)).toEqual([200]);
    await untilRemaining(host, 'slots', 1);
    expect(await statuses(host, 'skip-successful', 1, head)).toEqual([200]);
    await untilRemaining(host, 'skip-successful', 2);
  },
  async 'failed requests are refunded'(host) {
    expect((await send(host, 'skip-failed', withBehavior('missing'))).status).toBe(404);
    await untilRemaining(host, 'skip-failed', 2);
    expect((await send(host, 'skip-failed')).status).toBe(200);
    await untilRemaining(host, 'skip-failed', 1);
  },
  async 'a handler that throws fails its request, which is refunded'(host) {
    expect((await send(host, 'skip-failed', withBehavior('throw'))).status).toBe(500);
    await untilRemaining(host, 'skip-failed', 2);
  },
  async 'successful requests are refunded at the end of their stream'(host) {
    const streamed = await send(host, 'skip-successful', withBehavior('stream'));
    expect(streamed).toMatchObject({ status: 200, body: 'hello' });
    await untilRemaining(host, 'skip-successful', 2);
    expect((await send(host, 'skip-successful', withBehavior('missing'))).status).toBe(404);
    expect((await peek(host, 'skip-successful')).remaining).toBe(1);
  },
  async 'aborted requests are refunded, and only where the options say so'(host) {
    for (const scenario of ['skip-aborted', 'skip-failed']) {
      const streaming = host.client.open(`/${scenario}`, {
        headers: { 'x-client': host.id, 'x-behavior': 'endless' },
      });
      expect(await streaming.firstPart).toBe('hel');
      expect((await peek(host, scenario)).remaining).toBe(1);
      streaming.abort();
    }
    await untilRemaining(host, 'skip-aborted', 2);
    expect((await peek(host, 'skip-failed')).remaining).toBe(1);
  },
  async 'slots are released when the response ends or its client leaves'(host) {
    for (const behavior of ['hello', 'stream', 'throw']) {
      await send(host, 'slots', withBehavior(behavior));
      await untilRemaining(host, 'slots', 1);
    }
    const streaming = host.client.open('/slots', { headers: { 'x-client': host.id, 'x-behavior': 'endless' } });
    expect(await streaming.firstPart).toBe('hel');
    expect((await send(host, 'slots')).status).toBe(429);
    streaming.abort();
    await untilRemaining(host, 'slots', 1);
  },
  async 'a response that other code drops releases its slot'(host) {
    const { status, body } = await send(host, 'slots', withBehavior('dropped'));
    expect({ status, body }).toEqual({ status: 200, body: 'replaced' });
    await until('the slot is free', async () => {
      await host.client.open('/control/collect-garbage').reply;
      return (await peek(host, 'slots')).remaining === 1;
    });
  },
  async 'a request is settled with its actual cost, by limit'(host) {
    expect((await send(host, 'settle', withBehavior('settle'))).status).toBe(200);
    expect(await peek(host, 'settle')).toMatchObject({
      limits: { requests: { remaining: 4 }, tokens: { remaining: 58 } },
    });
    expect((await send(host, 'settle', withBehavior('settle-unknown'))).status).toBe(500);
    expect(await peek(host, 'settle')).toMatchObject({
      limits: { requests: { remaining: 3 }, tokens: { remaining: 48 } },
    });
  },
};

// Makes calls from several callers until it is killed. Imports the built packages, as an app does.
import { setTimeout as delay } from 'node:timers/promises';
import { rollingWindow } from '@rollgate/core';
import {
  anthropic,
  createFetch,
  discord,
  draftHeaders,
  github,
  openai,
  shopify,
  slack,
  stripe,
  xRateLimit,
} from '@rollgate/fetch';
import { RedisStore } from '@rollgate/redis';
import { Redis } from 'ioredis';

const { address, redisUrl, dialect, callers, costs, estimate, ownLimit, lease } = JSON.parse(process.argv[2]);
const DIALECTS = { anthropic, discord, draftHeaders, github, openai, shopify, slack, stripe, xRateLimit };
const client = new Redis(redisUrl);
client.on('error', () => {});

const estimateOf = ({ url }) => Math.ceil(Number(url.searchParams.get('cost')) * estimate);
const api = createFetch({
  store: new RedisStore({ client }),
  bucket: () => 'my-app',
  dialects: dialect === 'retryAfter' ? [] : [DIALECTS[dialect]()],
  cost: (request) => ({ tokens: estimateOf(request), points: estimateOf(request) }),
  limits: ownLimit && { own: rollingWindow(ownLimit) },
  retry: { methods: 'all' },
  storeTimeout: '10s',
  lease,
});

async function callForever() {
  for (;;) {
    const [least, greatest] = costs;
    const cost = least + Math.floor(Math.random() * (greatest - least + 1));
    // A call that waits for too long is made again, as an app does with its queue.
    await api(`${address}?cost=${cost}`).then(
      (response) => response.text(),
      () => delay(10),
    );
  }
}

process.on('message', () => {
  for (let caller = 0; caller < callers; caller++) void callForever();
});
process.on('disconnect', () => process.exit()); // The parent has ended or needs no more.
await client.ping();
process.send('ready');

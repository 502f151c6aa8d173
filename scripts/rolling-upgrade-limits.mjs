// What rolling-upgrade.mjs limits, with the packages of a checkout.

/** A limit of each algorithm whose window no run outlasts, by name. */
export function limitsOf({ core, limit }) {
  const window = '1d';
  return {
    packed: core.rollingWindow({ limit, window }),
    'sorted-set': core.rollingWindow({ limit, window }),
    fixed: core.fixedWindow({ limit, window }),
    counter: core.slidingWindowCounter({ limit, window }),
    bucketed: core.bucketedWindow({ limit, window }),
    token: core.tokenBucket({ capacity: limit, refill: 1, every: '30d' }),
    leaky: core.leakyBucket({ capacity: limit - 1, interval: '1d' }), // One starts at once, the others wait.
    slots: core.concurrency({ limit, lease: '1m' }),
  };
}

export function storeOf(name, { redis }, client) {
  return new redis.RedisStore({ client, log: name === 'sorted-set' ? 'sorted-set' : 'packed' });
}

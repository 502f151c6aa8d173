/** Why the suite need not detect a mutant, by its name. */
export const reasons = {
  'core/limits/concurrency 3':
    'Equivalent: a lease that nothing has replaced takes its slots again. The limiter loses it before its end anyway.',
  'redis/lua/usual-check.lua 14':
    'Shows only when a half window ends during a batch, which takes some 0.1 ms. A key then expires that much too early.',
  'redis/lua/hit-log-packed.lua 4':
    'Equivalent: each operation that writes a whole log sets its TTL afterwards. `KEEPTTL` protects the key if that fails.',
  'redis/denial-cache 2':
    'Equivalent: a check of such a limit always records, and the store caches only rejections that recorded nothing.',
  'redis/redis-store 4':
    'Equivalent within a process: a denial is valid only at or after the time of its check. Without it, old denials take room for longer.',
  'redis/plan-encoding 1':
    'Equivalent: a check of such a limit always records, and the store caches only rejections that recorded nothing.',
  'redis/redis-keys 1':
    'Harmless: limiters reject empty keys. For an empty subject of a rolling counter, the Redis key stays unique.',
};

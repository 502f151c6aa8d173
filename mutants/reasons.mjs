/** Why the suite need not detect a mutant, by its file and description. */
export const reasons = {
  'core/limiter/key-changes: a store need not charge':
    'Equivalent on Node: the guard of every store but the memory throws the same error. Only bundles have stores without a guard.',
  'calendar/days: the anchor is in the next period':
    'Equivalent: the loop of the calendar moves on from an earlier period, as it does when a midnight is repeated.',
  'core/slots/concurrency: a lease is live at its end':
    'Equivalent: a lease that nothing has replaced takes its slots again. The limiter loses it before its end anyway.',
  'redis/lua/program/plain-window-check.lua: a half window keeps the TTL of another':
    'Shows only when a half window ends during a batch, which takes some 0.1 ms. A key then expires that much too early.',
  'redis/lua/hit-log/hit-log-packed.lua: a short log loses its TTL':
    'Equivalent: each operation that writes a whole log sets its TTL afterwards. `KEEPTTL` protects the key if that fails.',
  'redis/denials/denial-cache: rejections of limits that count them are kept':
    'Equivalent: a check of such a limit always records, and the store caches only rejections that recorded nothing.',
  'redis/denials/denial-cache: a clock that steps back leaves the rejections':
    'Equivalent within a process: a denial is valid only at or after the time of its check. Without it, old denials take room for longer.',
  'redis/operations/plan-encoder: a limit that counts rejected attempts is cached':
    'Equivalent: a check of such a limit always records, and the store caches only rejections that recorded nothing.',
  'redis/sending/operation-sender: half a batch waits until a reply is read':
    'Shows only in time: the half goes after the results in the reply are read, and still before any caller continues.',
  'redis/operations/redis-keys: an empty key is an empty pair of braces':
    'Harmless: limiters reject empty keys. For an empty subject of a rolling counter, the Redis key stays unique.',
};

import type { Redis } from 'ioredis';

/** `PEXPIRETIME` is a command of Redis 7. Without it, the expiry is exact when no millisecond ends while it is computed. */
const SCRIPT = `
local expiry = redis.pcall('PEXPIRETIME', KEYS[1])
if type(expiry) == 'number' then return expiry end
local function milliseconds()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
while true do
  local before, ttl = milliseconds(), redis.call('PTTL', KEYS[1])
  if ttl < 0 then return ttl end
  if milliseconds() == before then return before + ttl end
end`;

/** The time at which a key expires, in milliseconds since the epoch; negative if it has none. */
export async function expiryOf(client: Redis, key: string): Promise<number> {
  return (await client.eval(SCRIPT, 1, key)) as number;
}

import type { IoredisClient } from '@rollgate/redis';
import type { Redis } from 'ioredis';
import { createScriptEditingClient } from './script-editing-client.js';

/** Creates a client whose scripts find the leases of `concurrency` in their older form. See concurrency.lua. */
export function createOlderLeaseClient(client: Redis): IoredisClient {
  return createScriptEditingClient(client, (script) => `${BEFORE}${script}`);
}

const BEFORE = `
for _, key in ipairs(KEYS) do
  local found = redis.call('TYPE', key).ok == 'zset' and redis.call('ZRANGE', key, 0, -1, 'WITHSCORES') or {}
  if found[#found] == 'inf' then
    local ends
    for index = 1, #found, 2 do
      if string.find(found[index], ':%d+:') then ends = math.max(ends or -math.huge, tonumber(found[index + 1])) end
    end
    redis.call('ZADD', key, string.format('%d', ends), '*')
    redis.call('ZREM', key, found[#found - 1])
  end
end
`;

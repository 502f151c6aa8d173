import type { IoredisClient } from '@rollgate/redis';
import type { Redis } from 'ioredis';
import { createScriptEditingClient } from './script-editing-client.js';

/**
 * Creates a client whose scripts fail if one of their keys exists without a TTL when they end. Such a key would stay in Redis
 * forever.
 */
export function createExpiryClient(client: Redis): IoredisClient {
  return createScriptEditingClient(client, (script) => `${BEFORE}${script}${AFTER}`);
}

const BEFORE = 'local function script()\n';

const AFTER = `
end
local reply = script()
for _, key in ipairs(KEYS) do
  if redis.call('PTTL', key) == -1 then return redis.error_reply('Expected a TTL of ' .. key .. ', got none') end
end
return reply`;

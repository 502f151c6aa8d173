import { withMaxSteps } from '../support/max-steps.js';

/**
 * Wraps a script of the store. The last of ARGV is the server's time in microseconds, and keys expire by it. A hash keeps the
 * expiries, because the real server's clock differs. Returns the script's reply, and the keys that expired before it ran.
 */
const BEFORE = `
local real_call, real_pcall, server_micros = redis.call, redis.pcall, tonumber(table.remove(ARGV))
local EXPIRIES = 'simulation:expiries'
local server_ms = math.floor(server_micros / 1000)
local expired = {}
local expiries = real_call('HGETALL', EXPIRIES)
for index = 1, #expiries, 2 do
  local key = expiries[index]
  if server_ms > tonumber(expiries[index + 1]) then
    if real_call('UNLINK', key) == 1 then expired[#expired + 1] = key end
    real_call('HDEL', EXPIRIES, key)
  end
end
local simulated = {}
function simulated.TIME()
  return { string.format('%d', math.floor(server_micros / 1000000)), string.format('%d', server_micros % 1000000) }
end
function simulated.PEXPIREAT(key, at_ms)
  if real_call('EXISTS', key) == 1 then real_call('HSET', EXPIRIES, key, at_ms) end
end
function simulated.PEXPIRE(key, ms)
  simulated.PEXPIREAT(key, string.format('%d', server_ms + ms))
end
function simulated.PTTL(key)
  if real_call('EXISTS', key) == 0 then return -2 end
  local at_ms = real_call('HGET', EXPIRIES, key)
  return at_ms and tonumber(at_ms) - server_ms or -1
end
function simulated.SET(key, value, option, ms)
  local reply = real_call('SET', key, value)
  if option == 'KEEPTTL' then return reply end
  real_call('HDEL', EXPIRIES, key)
  if option == 'PX' then simulated.PEXPIRE(key, ms)
  elseif option == 'PXAT' then simulated.PEXPIREAT(key, ms)
  elseif option then error('The simulation does not support SET with ' .. option) end
  return reply
end
function simulated.UNLINK(key)
  real_call('HDEL', EXPIRIES, key)
  return real_call('UNLINK', key)
end
local redis = setmetatable({
  call = function(command, ...)
    local own = simulated[command]
    if own then return own(...) end
    return real_call(command, ...)
  end,
  pcall = function(command, ...)
    local own = simulated[command]
    if not own then return real_pcall(command, ...) end
    local succeeded, reply = pcall(own, ...)
    if succeeded then return reply end
    return type(reply) == 'table' and reply or { err = reply }
  end,
}, { __index = redis })
local function script()
`;

const AFTER = `
end
return { script(), expired }
`;

/** The script as the real server runs it. With `isSliced`, it leaves all but a few operations to the next script. */
export function wrapScript(text: string, isSliced: boolean): string {
  return `${BEFORE}${isSliced ? withMaxSteps(text, 25) : text}${AFTER}`;
}

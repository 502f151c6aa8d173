-- What operations need that change states after a decision. They raise errors, which main.lua catches.

local function raise(message)
  if message then error(message, 0) end
end

-- Raises the message that follows false, and passes all other values on.
local function raise_false(value, message, ...)
  if value == false then error(message, 0) end
  return value, message, ...
end

-- Sets when a key expires, as `write_text` does.
local function expire(key, expires, keep, injected_now)
  if injected_now then redis.call('PEXPIRE', key, string.format('%d', math.ceil(keep / 1000) + 60000))
  else redis.call('PEXPIREAT', key, string.format('%d', math.ceil(expires / 1000))) end
end

-- Runs steps that raise errors, and returns what `apply` does. If they raise 'damaged', the state contradicts itself. It is dropped then, as
-- if its times were impossible.
local function protect(steps, rule, key, now, cost, mode, stamp, injected_now, state)
  while true do
    local succeeded, wait, remaining, reset, next_unit, ahead, delay, reason, tested, usage =
      pcall(steps, rule, key, now, cost, mode, stamp, injected_now, state)
    if succeeded then return wait, remaining, reset, next_unit, ahead, delay, reason, tested, usage end
    local reply = wait == 'damaged' and redis.pcall('UNLINK', key) or wait
    if type(reply) ~= 'number' then return false, type(reply) == 'table' and reply.err or tostring(reply) end
    state = nil
  end
end

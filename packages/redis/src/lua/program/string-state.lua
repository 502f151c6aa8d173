-- The state of a key as a Redis string.
--
-- The state of some algorithms has no room for the stamp of its first record. A reset then leaves a marker: "r" and the stamp
-- of the reset. The marker stays until the state would have expired, so that a refund finds nothing that was recorded before
-- the reset. A refund that leaves nothing does the same, because a new state may begin in the same window if the clock steps
-- back.

-- Creates what few operations need.
local function rare_steps()
  -- The message of an operation that fails because the key has a value that this algorithm did not write.
  local function foreign(key)
    return 'Expected a state of this algorithm in ' .. key .. ', got another value. Delete the key or change the prefix'
  end

  -- The scale of a limit that can write a state that ends so far ahead (see clock-skew-bound.ts).
  local function scale_of(ahead)
    local scale = 0
    while 2 ^ scale < ahead do scale = scale + 1 end
    return scale
  end

  -- Deletes a state. With a stamp, a marker with it stays until the state would have expired. Returns the message of an error.
  local function reset(key, stamp)
    local ttl = stamp and redis.pcall('PTTL', key) or 0
    local reply
    if type(ttl) == 'number' and ttl > 0 then reply = redis.pcall('SET', key, string.format('r%d', stamp), 'PX', ttl)
    else reply = redis.pcall('UNLINK', key) end
    return type(reply) == 'table' and reply.err or nil
  end

  return { foreign = foreign, scale_of = scale_of, reset = reset }
end

-- Writes the state, which expires at `expires`. Rounds up, because a key must not expire before its state does. An injected clock
-- may stand still, so a key then lives for its keep and a minute by the server's clock. Returns the message of an error.
local function write_text(key, text, expires, keep, injected_now)
  if injected_now then return redis.pcall('SET', key, text, 'PX', string.format('%d', math.ceil(keep / 1000) + 60000)).err end
  return redis.pcall('SET', key, text, 'PXAT', string.format('%d', math.ceil(expires / 1000))).err
end
-- end of what checks need

local reset_text = rare_steps().reset

-- Replaces a state after a refund and keeps its expiry. Without a text, only the marker with `stamp` stays.
local function rewrite_text(key, text, reset_stamp, stamp)
  local ttl = text and redis.call('PTTL', key) or 0
  if ttl > 0 then redis.call('SET', key, reset_stamp and text .. string.format('r%d', reset_stamp) or text, 'PX', ttl)
  else raise(reset_text(key, not text and stamp or nil)) end
end

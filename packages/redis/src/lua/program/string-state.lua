-- The state of a key as a Redis string.
--
-- The state of some algorithms has no room for the stamp of its first record. A reset then leaves a marker: "r" and the stamp
-- of the reset. The marker stays until the state would have expired, so that a refund finds nothing that was recorded before
-- the reset. A refund that leaves nothing does the same, because a new state may begin in the same window if the clock steps
-- back.

local string_state = {}

-- Whether a limit of this scale can write a state that ends so far ahead (see clock-skew-bound.ts).
function string_state.is_within_scale(ahead, scale)
  return ahead <= 2 ^ (scale + 1)
end

-- The scale of a limit that can write a state that ends so far ahead.
function string_state.scale_of(ahead)
  local scale = 0
  while 2 ^ scale < ahead do scale = scale + 1 end
  return scale
end

-- Fails this operation, because the key has a value that this algorithm did not write.
function string_state.raise_foreign(key)
  error('Expected a state of this algorithm in ' .. key .. ', got another value. Delete the key or change the prefix', 0)
end

-- The state's text, if there is one, and the stamp of a reset, if there is a marker.
function string_state.read(key)
  local text = redis.call('GET', key)
  local mark = text and string.find(text, 'r', 1, true)
  if not mark then return text end
  return mark > 1 and string.sub(text, 1, mark - 1), tonumber(string.sub(text, mark + 1))
end

local function with_reset_mark(text, reset_stamp)
  return reset_stamp and text .. string.format('r%d', reset_stamp) or text
end

-- Writes the state after a record. main.lua then sets the expiry.
function string_state.write(state, text)
  redis.call('SET', state.key, with_reset_mark(text, state.reset_stamp))
end

-- Replaces the value of a key and keeps its expiry. Deletes the key if the text is empty.
local function replace(key, text)
  local ttl = redis.call('PTTL', key)
  if text ~= '' and ttl > 0 then redis.call('SET', key, text, 'PX', ttl) else redis.call('UNLINK', key) end
end

function string_state.reset(key, stamp)
  replace(key, with_reset_mark('', stamp))
end

-- Writes the state after a refund. Without a text, nothing is left and only the marker with `stamp` stays.
function string_state.rewrite(state, text, stamp)
  if text then replace(state.key, with_reset_mark(text, state.reset_stamp)) else string_state.reset(state.key, stamp) end
end

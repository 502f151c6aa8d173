-- A key whose state is one text. After a reset it says since when it knows anything, "r" and a stamp: until the state would
-- have expired anyway, a refund of what was recorded before the reset must find nothing. The same holds after a refund that
-- leaves nothing: should time run back, what was before may be begun anew.

local string_state = {}

-- Whether a limit of this scale could have written of a time so far ahead. See time-scale.ts.
function string_state.is_within_scale(ahead, scale)
  return ahead <= 2 ^ (scale + 1)
end

-- What somebody else wrote fails this operation alone.
function string_state.refuse(key)
  error(key .. ' holds no state of this algorithm', 0)
end

-- The text, if there is one, and the stamp of a reset.
function string_state.read(key)
  local text = redis.call('GET', key)
  local mark = text and string.find(text, 'r', 1, true)
  if not mark then return text end
  return mark > 1 and string.sub(text, 1, mark - 1), tonumber(string.sub(text, mark + 1))
end

local function marked(text, since)
  return since and text .. string.format('r%d', since) or text
end

-- The frame sets the expiry of what was recorded.
function string_state.write(state, text)
  redis.call('SET', state.key, marked(text, state.since))
end

-- Puts a text in the place of the one that is there, or nothing, and leaves the expiry as it is.
local function replace(key, text)
  local left = redis.call('PTTL', key)
  if text ~= '' and left > 0 then redis.call('SET', key, text, 'PX', left) else redis.call('UNLINK', key) end
end

function string_state.forget(key, stamp)
  replace(key, marked('', stamp))
end

-- Writes what is left after a refund of what was recorded at `stamp`, which may be nothing.
function string_state.rewrite(state, text, stamp)
  if text then replace(state.key, marked(text, state.since)) else string_state.forget(state.key, stamp) end
end

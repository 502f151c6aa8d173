-- A block: a key that is closed until a time. The counterpart of block.ts.
--
-- The text is "ends:longest": when the key opens, and the longest of its blocks. Without an end, both are FOREVER.

local block = {}
algorithms.block = block

local FOREVER = MAX_UNITS

function block.rule(length)
  return { length = length }
end

function block.read(key)
  local text = redis.call('GET', key)
  if not text then return end
  local ends, longest = string.match(text, '^(%-?%d+):(%d+)$')
  if not ends then string_state.raise_foreign(key) end
  return tonumber(ends), tonumber(longest)
end

function block.find(_, key, now)
  local ends, longest = block.read(key)
  if not ends or ends <= now then return { key = key, ends = now, longest = 0 } end
  if ends - now <= 2 * longest then return { key = key, ends = ends, longest = longest } end
  redis.call('UNLINK', key) -- A broken clock wrote it.
  return { key = key, ends = now, longest = 0 }
end

function block.test(_, state, now)
  local left = state.ends - now
  if state.ends == FOREVER then return { wait = NEVER, remaining = 0, reset = -1, next_unit = -1, at = now } end
  return { wait = left, remaining = left > 0 and 0 or 1, reset = left, next_unit = left, at = now }
end

-- A check closes nothing, so its rule has no length and it writes nothing.
function block.record(rule, state, now)
  if rule.length > 0 then
    state.ends = math.max(state.ends, rule.length == FOREVER and FOREVER or now + rule.length)
    state.longest = math.max(state.longest, rule.length)
    redis.call('SET', state.key, string.format('%d:%d', state.ends, state.longest))
  end
  local verdict = block.test(rule, state, now)
  verdict.expires, verdict.keep = state.ends, state.ends - now
  return verdict
end

function block.refund() end

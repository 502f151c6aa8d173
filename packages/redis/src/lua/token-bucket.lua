-- A bucket of tokens that fills again evenly. The twin of token-bucket.ts.
--
-- The text is "full:parts:refunded:since:scale": when it is full again, in microseconds and parts of one; the times of what was
-- given back; since when the key is there (a stamp); and the scale (see time-scale.ts). Then, for a minDifference, ":newest:apart".

local token_bucket = {}
algorithms['token-bucket'] = token_bucket

function token_bucket.rule(limit, tokens, micros, fill, scale, min_difference)
  local rest = micros % tokens
  return {
    limit = limit, tokens = tokens, micros = micros, scale = scale, min_difference = min_difference,
    rest = rest, whole = (micros - rest) / tokens, keep = math.max(fill, min_difference),
  }
end

-- What so many tokens take to come back: whole microseconds, and parts.
local function time_of(rule, tokens)
  if rule.rest == 0 then return tokens * rule.whole, 0 end
  local parts = tokens * rule.rest
  return tokens * rule.whole + math.floor(parts / rule.tokens), parts % rule.tokens
end

local function empty(key)
  return { key = key, full = -NEVER, parts = 0, refunded = 0, scale = 0, expires = NEVER }
end

local function read(key)
  local text = redis.call('GET', key)
  if not text then return empty(key), false end
  local pattern = '^(%-?%d+):(%d+):(%d+):(%d+):(%d+):?(%-?%d*):?(%d*)$'
  local full, parts, refunded, since, scale, newest, apart = string.match(text, pattern)
  if not full then string_state.refuse(key) end
  local state = { key = key, full = tonumber(full), parts = tonumber(parts) }
  state.refunded, state.since, state.scale = tonumber(refunded), tonumber(since), tonumber(scale)
  min_difference_state.read(state, newest, apart, state.parts > 0 and state.full + 1 or state.full)
  return state, true
end

local function text_with(state)
  local text = string.format('%d:%d:%d:%d:%d', state.full, state.parts, state.refunded, state.since, state.scale)
  return text .. min_difference_state.text(state)
end

-- Another limit's parts are of another size: never more than there are.
local function parts_of(rule, state)
  return math.min(state.parts, rule.tokens - 1)
end

-- Notes when it is full; `parts` may be some too many, or too few.
local function move(rule, state, micros, parts)
  local carried = math.floor(parts / rule.tokens)
  state.full, state.parts = micros + carried, parts - carried * rule.tokens
  state.expires = min_difference_state.expires(state, state.parts > 0 and state.full + 1 or state.full)
end

function token_bucket.find(rule, key, now)
  local state, is_known = read(key)
  local ahead = not string_state.is_within_scale(state.full - now, state.scale)
  if is_known and min_difference_state.is_live(rule, state, now, ahead, rule.keep) then return state end
  return empty(key)
end

-- How long until so many tokens are there.
local function until_free(rule, state, now, parts, tokens)
  local micros, spared_parts = time_of(rule, rule.limit - tokens)
  return math.max(0, state.full - micros + (parts > spared_parts and 1 or 0) - now)
end

function token_bucket.test(rule, state, now, cost)
  local limit, full, parts = rule.limit, state.full, parts_of(rule, state)
  local verdict = { wait = 0, remaining = limit, reset = 0, steady = NEVER, at = math.max(full, now) + state.refunded }
  local until_full = full + (parts > 0 and 1 or 0) - now
  if until_full > 0 then
    -- A token that has begun to come back is missing still.
    verdict.remaining = math.max(0, limit - mul_div_up(full - now, rule.tokens, rule.micros, parts))
    verdict.reset = until_full
    if cost > verdict.remaining and cost <= limit then verdict.wait = until_free(rule, state, now, parts, cost) end
    verdict.steady = until_free(rule, state, now, parts, verdict.remaining + 1)
  end
  return min_difference_state.verdict(rule, state, now, cost, verdict)
end

function token_bucket.record(rule, state, now, cost, _, stamp)
  local micros, parts = time_of(rule, cost)
  local before = state.full < now and 0 or parts_of(rule, state)
  local is_full = state.full < now or (state.full == now and before == 0)
  state.scale = is_full and rule.scale or math.max(state.scale, rule.scale)
  min_difference_state.note(rule, state, now)
  move(rule, state, math.max(state.full, now) + micros, before + parts)
  state.since = state.since or stamp
  redis.call('SET', state.key, text_with(state))
  local verdict = token_bucket.test(rule, state, now, cost)
  verdict.expires, verdict.keep = state.expires, min_difference_state.keep(state, rule.keep)
  return verdict
end

function token_bucket.refund(rule, key, stamp, now, at, cost, recorded_at)
  local state, is_known = read(key)
  if not is_known or state.since > stamp then return end
  local micros, parts = time_of(rule, cost)
  -- Its tokens came back after those that were missing before it, and not before it was recorded.
  micros = micros - math.max(0, math.min(now + state.refunded - at, now - recorded_at))
  if micros < 0 then return end
  move(rule, state, state.full - micros, parts_of(rule, state) - parts)
  state.refunded = state.refunded + micros + (parts > 0 and 1 or 0)
  redis.call('SET', key, text_with(state))
  return state.expires, min_difference_state.keep(state, rule.keep)
end

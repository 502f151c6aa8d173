-- The token bucket. The counterpart of token-bucket.ts.
--
-- The text is "full:parts:refunded:since_newest:since_created:scale". The bucket is full again at `full`, in microseconds, and
-- `parts`, in fractions of a microsecond. `refunded` is the sum of the refunded times. `since_newest` is the time from the newest
-- action to `full`, and `since_created` is the time from the stamp of the first record to `full`. These are shorter than times:
-- a usual text has at most 44 characters, and a longer one takes 16 bytes more. For the scale see clock-skew-bound.ts. For a
-- minDifference, ":newest:longest_difference" follows.

local token_bucket = {}
algorithms['token-bucket'] = token_bucket

function token_bucket.rule(limit, tokens, micros, fill, scale, min_difference)
  local rest = micros % tokens
  return {
    limit = limit, tokens = tokens, micros = micros, scale = scale, min_difference = min_difference,
    rest = rest, whole = (micros - rest) / tokens, fill = fill, keep = math.max(fill, min_difference),
  }
end

-- How long so many tokens take to refill, in whole microseconds and parts.
local function time_of(rule, tokens)
  if tokens > rule.limit then return divide_product(tokens, rule.micros, rule.tokens) end
  if rule.rest == 0 then return tokens * rule.whole, 0 end
  local parts = tokens * rule.rest
  return tokens * rule.whole + math.floor(parts / rule.tokens), parts % rule.tokens
end

local function empty(key)
  return { key = key, full = -NEVER, parts = 0, refunded = 0, newest_action = -NEVER, scale = 0, expires = NEVER }
end

local function read(key)
  local text = redis.call('GET', key)
  if not text then return empty(key), false end
  local pattern = '^(%-?%d+):(%d+):(%d+):(%-?%d+):(%-?%d+):(%d+):?(%-?%d*):?(%d*)$'
  local full, parts, refunded, since_newest, since_created, scale, newest, longest_difference = string.match(text, pattern)
  if not full then string_state.raise_foreign(key) end
  local state = { key = key, full = tonumber(full), parts = tonumber(parts), refunded = tonumber(refunded) }
  state.newest_action, state.created, state.scale = full - since_newest, full - since_created, tonumber(scale)
  min_difference_state.read(state, newest, longest_difference, state.parts > 0 and state.full + 1 or state.full)
  return state, true
end

local function format_state(state)
  local since_newest, since_created = state.full - state.newest_action, state.full - state.created
  local text = string.format(
    '%d:%d:%d:%d:%d:%d', state.full, state.parts, state.refunded, since_newest, since_created, state.scale
  )
  return text .. min_difference_state.format(state)
end

-- The state's parts. Another limit may have written more parts than a microsecond has for this one.
local function parts_of(rule, state)
  return math.min(state.parts, rule.tokens - 1)
end

-- Sets when the bucket is full. `parts` may be negative, or more than a microsecond has.
local function move(rule, state, micros, parts)
  local carried = math.floor(parts / rule.tokens)
  state.full, state.parts = micros + carried, parts - carried * rule.tokens
  state.expires = min_difference_state.expires(state, state.parts > 0 and state.full + 1 or state.full)
end

token_bucket.read = read

function token_bucket.find(rule, key, now)
  local state, is_known = read(key)
  local ahead = not string_state.is_within_scale(state.full - now, state.scale)
  if is_known and min_difference_state.is_valid(rule, state, now, ahead, rule.keep) then return state end
  return empty(key)
end

-- How long the key lives.
local function keep_of(rule, state, now)
  return math.max(min_difference_state.keep(state, rule.keep), state.expires - now)
end

-- How long until the bucket contains so many tokens.
local function until_free(rule, state, now, parts, tokens)
  local micros, spared_parts = time_of(rule, rule.limit - tokens)
  return math.max(0, state.full - micros + (parts > spared_parts and 1 or 0) - now)
end

function token_bucket.test(rule, state, now, cost)
  local limit, full, parts = rule.limit, state.full, parts_of(rule, state)
  local verdict = { wait = 0, remaining = limit, reset = 0, next_unit = 0, at = math.max(full, now) + state.refunded }
  local until_full = full + (parts > 0 and 1 or 0) - now
  if until_full > 0 then
    -- A token that refills at the moment is not available yet.
    verdict.remaining = math.max(0, limit - mul_div_up(full - now, rule.tokens, rule.micros, parts))
    verdict.reset = until_full
    if cost > verdict.remaining and cost <= limit then verdict.wait = until_free(rule, state, now, parts, cost) end
    verdict.next_unit = until_free(rule, state, now, parts, verdict.remaining + 1)
  end
  return min_difference_state.verdict(rule, state, now, cost, verdict)
end

function token_bucket.record(rule, state, now, cost, _, stamp)
  local micros, parts = time_of(rule, cost)
  local before = state.full < now and 0 or parts_of(rule, state)
  local is_full = state.full < now or (state.full == now and before == 0)
  state.scale = is_full and rule.scale or math.max(state.scale, rule.scale)
  state.newest_action = math.max(state.newest_action, now)
  min_difference_state.record(rule, state, now)
  move(rule, state, math.max(state.full, now) + micros, before + parts)
  if state.full - now > rule.fill then
    -- The bucket is in debt.
    if state.full - now > MAX_AHEAD then move(rule, state, now + MAX_AHEAD, 0) end
    state.scale = math.max(state.scale, string_state.scale_of(state.full - now))
  end
  state.created = state.created or stamp
  redis.call('SET', state.key, format_state(state))
  local verdict = token_bucket.test(rule, state, now, cost)
  verdict.expires, verdict.keep = state.expires, keep_of(rule, state, now)
  return verdict
end

function token_bucket.refund(rule, key, stamp, now, at, cost, kept, recorded_at)
  local state, is_known = read(key)
  -- If the server's clock has stepped back, a state that began later may have an earlier stamp, but no action so late.
  if not is_known or state.created > stamp or recorded_at > state.newest_action then return end
  local micros, parts = time_of(rule, cost - kept)
  if kept > 0 then
    -- The tokens that stay taken refill first.
    local kept_micros = time_of(rule, kept)
    at, recorded_at = at + kept_micros, recorded_at + kept_micros
  end
  -- Excludes the time in which the hit's tokens have refilled: after those taken before it, and after it was recorded.
  -- The clock may have stepped back since the newest action.
  local latest = math.max(state.newest_action, now)
  micros = micros - math.max(0, math.min(latest + state.refunded - at, latest - recorded_at))
  if micros < 0 then return end
  move(rule, state, state.full - micros, parts_of(rule, state) - parts)
  state.refunded = state.refunded + micros + (parts > 0 and 1 or 0)
  redis.call('SET', key, format_state(state))
  return state.expires, keep_of(rule, state, now)
end

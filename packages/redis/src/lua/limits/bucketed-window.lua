-- The bucketed window. The counterpart of bucketed-window.ts.
--
-- The text is "window:created", where `window` is in milliseconds and belongs to the limit that recorded last, and `created` is
-- the stamp of the first record. For a minDifference, ":newest:longest_difference" follows. Then "/" and the buckets follow
-- (see bucket-counts.lua).

local bucketed_window = {}
algorithms['bucketed-window'] = bucketed_window

function bucketed_window.rule(limit, window, width, min_difference)
  return { limit = limit, window = window, width = width, min_difference = min_difference }
end

local function read(key)
  local text = redis.call('GET', key)
  local state = { key = key, window = 0, buckets = bucket_counts.empty(), expires = NEVER }
  if not text then return state, false end
  local window, created, newest, longest_difference, head = string.match(text, '^(%d+):(%d+):?(%-?%d*):?(%d*)/()')
  state.buckets = window and bucket_counts.read(text, head)
  if not state.buckets then string_state.raise_foreign(key) end
  state.window, state.created = window * 1000, tonumber(created)
  min_difference_state.read(state, newest, longest_difference, bucket_counts.newest_end(state.buckets) + state.window)
  return state, true
end

local function format_state(state)
  local head = string.format('%d:%d', state.window / 1000, state.created) .. min_difference_state.format(state)
  return bucket_counts.format(head .. '/', state.buckets)
end

bucketed_window.read = read

-- Drops the buckets that have left the window.
function bucketed_window.find(rule, key, now)
  local state, is_known = read(key)
  local window = rule.window
  local newest_start = bucket_counts.newest_start(state.buckets)
  local keep = math.max(window, rule.min_difference)
  if is_known and not min_difference_state.is_valid(rule, state, now, newest_start - now > window, keep) then
    state = { key = key, buckets = bucket_counts.empty(), expires = NEVER }
    newest_start = -NEVER
  end
  state.latest = math.max(now, newest_start)
  state.newest_end = bucket_counts.newest_end(state.buckets)
  bucket_counts.drop(state.buckets, state.latest - window)
  return state
end

function bucketed_window.test(rule, state, now, cost)
  local limit, window, buckets = rule.limit, rule.window, state.buckets
  local width = bucket_counts.width_for(buckets, rule.width, window)
  local used = buckets.units
  local free = limit - used
  local wait, reset, next_unit = 0, 0, 0
  if used > 0 then
    if cost > free and cost <= limit then
      wait = bucket_counts.end_of_unit(buckets, cost - free) + window - now
    end
    reset = state.newest_end + window - now
    next_unit = bucket_counts.end_of_unit(buckets, math.max(1, 1 - free)) + window - now
  end
  return min_difference_state.verdict(rule, state, now, cost, {
    wait = wait,
    remaining = math.max(0, free),
    reset = reset,
    next_unit = next_unit,
    at = (math.floor(state.latest / width) + 1) * width,
  })
end

function bucketed_window.record(rule, state, now, cost, verdict, stamp)
  local buckets, latest = state.buckets, state.latest
  bucket_counts.resize(buckets, bucket_counts.width_for(buckets, rule.width, rule.window), latest)
  state.window, state.created = rule.window, state.created or stamp
  bucket_counts.add(buckets, latest, cost)
  min_difference_state.record(rule, state, now)
  redis.call('SET', state.key, format_state(state))
  verdict.remaining, verdict.reset = math.max(0, rule.limit - buckets.units), verdict.at + rule.window - now
  verdict.next_unit = bucket_counts.end_of_unit(buckets, 1) + rule.window - now
  verdict.expires = min_difference_state.expires(state, verdict.at + rule.window)
  verdict.keep = min_difference_state.keep(state, rule.window + rule.width)
  return verdict
end

function bucketed_window.refund(rule, key, stamp, _, at, cost, kept)
  local state, is_known = read(key)
  local buckets = state.buckets
  if not is_known or state.created > stamp then return end
  bucket_counts.take(buckets, at, cost - kept)
  if buckets.units == 0 and not state.newest then redis.call('UNLINK', key) return end
  redis.call('SET', key, format_state(state))
  local expires = min_difference_state.expires(state, bucket_counts.newest_end(buckets) + state.window)
  return expires, min_difference_state.keep(state, rule.window + rule.width)
end

-- A rolling window that remembers in which of its buckets an action lay. The twin of bucketed-window.ts.
--
-- The text is "window:since", the window of the limit that recorded last in milliseconds, and since when the key is there (a stamp);
-- for a minDifference ":newest:apart"; then "/" and the buckets (see bucket-counts.lua).

local bucketed_window = {}
algorithms['bucketed-window'] = bucketed_window

function bucketed_window.rule(limit, window, width, min_difference)
  return { limit = limit, window = window, width = width, min_difference = min_difference }
end

local function read(key)
  local text = redis.call('GET', key)
  local state = { key = key, window = 0, buckets = bucket_counts.empty(), expires = NEVER }
  if not text then return state, false end
  spend(#text / 500)
  local window, since, newest, apart, buckets = string.match(text, '^(%d+):(%d+):?(%-?%d*):?(%d*)/(.*)$')
  state.buckets = window and bucket_counts.read(buckets)
  if not state.buckets then string_state.refuse(key) end
  state.window, state.since = window * 1000, tonumber(since)
  min_difference_state.read(state, newest, apart, bucket_counts.newest_end(state.buckets) + state.window)
  return state, true
end

local function text_with(state)
  return string.format('%d:%d', state.window / 1000, state.since) .. min_difference_state.text(state) .. '/' .. bucket_counts.text(state.buckets)
end

-- A state's expiry, latest moment and buckets; those that have left the window are not among them.
function bucketed_window.find(rule, key, now)
  local state, is_known = read(key)
  local window = rule.window
  local newest_start = bucket_counts.newest_start(state.buckets)
  local keep = math.max(window, rule.min_difference)
  if is_known and not min_difference_state.is_live(rule, state, now, newest_start - now > window, keep) then
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
  local wait, reset, steady = 0, 0, NEVER
  if used > 0 then
    if cost > free and cost <= limit then
      wait = bucket_counts.end_of_unit(buckets, cost - free) + window - now
    end
    reset = state.newest_end + window - now
    steady = bucket_counts.end_of_unit(buckets, 1) + window - now
  end
  return min_difference_state.verdict(rule, state, now, cost, {
    wait = wait,
    remaining = math.max(0, free),
    reset = reset,
    steady = steady,
    at = (math.floor(state.latest / width) + 1) * width,
  })
end

function bucketed_window.record(rule, state, now, cost, verdict, stamp)
  local buckets, latest = state.buckets, state.latest
  bucket_counts.resize(buckets, bucket_counts.width_for(buckets, rule.width, rule.window), latest)
  state.window, state.since = rule.window, state.since or stamp
  bucket_counts.add(buckets, latest, cost)
  min_difference_state.note(rule, state, now)
  redis.call('SET', state.key, text_with(state))
  verdict.remaining, verdict.reset = math.max(0, rule.limit - buckets.units), verdict.at + rule.window - now
  verdict.expires = min_difference_state.expires(state, verdict.at + rule.window)
  verdict.keep = min_difference_state.keep(state, rule.window + rule.width)
  return verdict
end

function bucketed_window.refund(rule, key, stamp, _, at, cost)
  local state, is_known = read(key)
  local buckets = state.buckets
  if not is_known or state.since > stamp then return end
  bucket_counts.take(buckets, at, cost)
  if buckets.units == 0 and not state.newest then redis.call('UNLINK', key) return end
  redis.call('SET', key, text_with(state))
  local expires = min_difference_state.expires(state, bucket_counts.newest_end(buckets) + state.window)
  return expires, min_difference_state.keep(state, rule.window + rule.width)
end

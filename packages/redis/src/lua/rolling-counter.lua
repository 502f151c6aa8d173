-- Counts without judging. The twin of counter.ts.
--
-- The text is when the subject is forgotten, in microseconds, then "/" and the buckets (see bucket-counts.lua).

local rolling_counter = {}
algorithms['rolling-counter'] = rolling_counter

-- Adds so many units, and returns how many there are in the last `interval`, and when the subject expires if it has changed.
function rolling_counter.add(key, width, span, expiry, units, interval, now)
  local text = redis.call('GET', key)
  local buckets = bucket_counts.empty()
  if text then
    local expires, rest = string.match(text, '^(%-?%d+)/(.*)$')
    local known = expires and bucket_counts.read(rest)
    if not known then error(key .. ' holds no counts', 0) end
    if bucket_counts.newest_start(known) - now > expiry then redis.call('UNLINK', key) -- A broken clock wrote it.
    elseif tonumber(expires) > now then buckets = known end
  end
  local latest = math.max(now, bucket_counts.newest_start(buckets))
  local expires
  if units > 0 then
    bucket_counts.drop(buckets, latest - span)
    bucket_counts.resize(buckets, bucket_counts.width_for(buckets, width, span), latest)
    bucket_counts.add(buckets, latest, units)
    expires = latest + expiry
    redis.call('SET', key, string.format('%d/', expires) .. bucket_counts.text(buckets))
  end
  -- Finer buckets may have begun earlier.
  bucket_counts.drop(buckets, math.max(now, bucket_counts.newest_start(buckets)) - interval)
  return buckets.units, expires
end

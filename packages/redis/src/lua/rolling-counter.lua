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
    if tonumber(expires) > now then buckets = bucket_counts.read(rest) end
    if bucket_counts.newest_start(buckets) - now > expiry then buckets = bucket_counts.empty() end -- A broken clock's.
  end
  local latest = math.max(now, bucket_counts.newest_start(buckets))
  local expires
  if units > 0 then
    bucket_counts.drop(buckets, latest - span)
    if buckets.size > 0 and buckets.width ~= width then bucket_counts.resize(buckets, width, latest) end
    buckets.width = width
    bucket_counts.add(buckets, latest, units)
    expires = latest + expiry
    redis.call('SET', key, string.format('%d/', expires) .. bucket_counts.text(buckets))
  end
  bucket_counts.drop(buckets, latest - interval)
  return buckets.units, expires
end

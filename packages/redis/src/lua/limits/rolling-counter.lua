-- The rolling counter, which decides nothing. The counterpart of rolling-counter-algorithm.ts.
--
-- The text is the time at which the subject expires, in microseconds, then "/" and the buckets (see bucket-counts.lua).

-- Adds units. Returns the sum of the last `interval`, and when the subject expires if that has changed.
local function add_to_counter(key, width, span, expiry, units, interval, now)
  local text = redis.call('GET', key)
  local buckets = bucket_counts.empty()
  if text then
    local expires, head = string.match(text, '^(%-?%d+)/()')
    local known = expires and bucket_counts.read(text, head)
    if not known then error('Expected counts in ' .. key .. ', got another value. Delete the key or change the prefix', 0) end
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
    redis.call('SET', key, bucket_counts.format(string.format('%d/', expires), buckets))
  end
  if interval == 0 then return 0, expires end -- Nobody needs the sum.
  -- Drops again by `interval`, because finer buckets may start earlier.
  bucket_counts.drop(buckets, math.max(now, bucket_counts.newest_start(buckets)) - interval)
  return buckets.units, expires
end

function kinds.count(run, stamp, first_key)
  local input = run.input
  local injected_now, width, span, expiry, units, interval = unpack(input, 1, 6)
  local now, key = injected_now or stamp, KEYS[first_key + 1]
  local succeeded, counted, expires = pcall(add_to_counter, key, width, span, expiry, units, interval, now)
  if not succeeded then
    if counted ~= 'damaged' then error(counted, 0) end
    redis.call('UNLINK', key)
    counted, expires = add_to_counter(key, width, span, expiry, units, interval, now)
  end
  if expires then expire(key, expires, expiry, injected_now) end
  return string.format('%d', counted)
end

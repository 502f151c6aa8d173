-- Units by the bucket of time they fell in. The twin of bucket-counts.ts.
--
-- The text is "units:first:size:width;" and then `size` counts with commas between them, an empty one for 0: the units of all,
-- which bucket the first is, counted from the clock's zero, how many there are, and how long one is in microseconds.

local bucket_counts = {}

function bucket_counts.empty()
  return { units = 0, first = 0, size = 0, width = 0, body = '', start = 1 }
end

function bucket_counts.read(text)
  local units, first, size, width, body = string.match(text, '^(%d+):(%-?%d+):(%d+):(%d+);(.*)$')
  return {
    units = tonumber(units), first = tonumber(first), size = tonumber(size), width = tonumber(width),
    body = body, start = 1, -- where the first count begins in `body`
  }
end

function bucket_counts.text(buckets)
  local body = string.sub(buckets.body, buckets.start)
  return string.format('%d:%d:%d:%d;', buckets.units, buckets.first, buckets.size, buckets.width) .. body
end

-- When the newest bucket with units ends; -NEVER when there is none.
function bucket_counts.newest_end(buckets)
  return buckets.size > 0 and (buckets.first + buckets.size) * buckets.width or -NEVER
end

-- When it began; -NEVER when there is none.
function bucket_counts.newest_start(buckets)
  return buckets.size > 0 and (buckets.first + buckets.size - 1) * buckets.width or -NEVER
end

-- The count that begins at `start`, and where the next one begins.
local function count_at(body, start)
  local comma = string.find(body, ',', start, true) or #body + 1
  return tonumber(string.sub(body, start, comma - 1)) or 0, comma + 1
end

-- Forgets the buckets that end at `micros` or before.
function bucket_counts.drop(buckets, micros)
  while buckets.size > 0 and (buckets.first + 1) * buckets.width <= micros do
    local units, next_start = count_at(buckets.body, buckets.start)
    buckets.units, buckets.start = buckets.units - units, next_start
    buckets.first, buckets.size = buckets.first + 1, buckets.size - 1
  end
end

-- The end of the bucket that holds the unit number `units`. There are that many.
function bucket_counts.end_of_unit(buckets, units)
  local start, left, held = buckets.start, units, nil
  for bucket = buckets.first, buckets.first + buckets.size - 1 do
    held, start = count_at(buckets.body, start)
    left = left - held
    if left <= 0 then return (bucket + 1) * buckets.width end
  end
end

-- Adds to the bucket in which `micros` lies; it is not before the newest one.
function bucket_counts.add(buckets, micros, units)
  local bucket = math.floor(micros / buckets.width)
  if buckets.size == 0 then
    buckets.first, buckets.size, buckets.body, buckets.start = bucket, 1, text_of(units), 1
  elseif bucket == buckets.first + buckets.size - 1 then
    local before = string.match(buckets.body, '^.*,', buckets.start) or ''
    local newest = string.sub(buckets.body, buckets.start + #before)
    buckets.body, buckets.start = before .. string.format('%d', newest + units), 1
  else
    local gap = bucket - (buckets.first + buckets.size - 1)
    buckets.body = buckets.body .. string.rep(',', gap) .. text_of(units)
    buckets.size = buckets.size + gap
  end
  buckets.units = buckets.units + units
end

on_demand(bucket_counts, function()
  -- The end and the units of each bucket that has any, oldest first.
  local function entries_of(buckets)
    local entries, start, units = {}, buckets.start, nil
    for index = 1, buckets.size do
      units, start = count_at(buckets.body, start)
      if units > 0 then entries[#entries + 1] = { ends = (buckets.first + index) * buckets.width, units = units } end
    end
    return entries
  end

  local function refill(buckets, entries)
    buckets.units, buckets.size, buckets.body, buckets.start = 0, 0, '', 1
    for _, entry in ipairs(entries) do bucket_counts.add(buckets, entry.at, entry.units) end
  end

  -- Goes over to buckets of another width. What an old one holds goes where its end lies, so that nothing is forgotten too
  -- early; but not beyond `latest`, by which all has been counted.
  function bucket_counts.resize(buckets, width, latest)
    local entries = entries_of(buckets)
    for _, entry in ipairs(entries) do entry.at = math.min(entry.ends - 1, latest) end
    buckets.width = width
    refill(buckets, entries)
  end

  -- Takes up to so many units from the bucket that ends at `ends`.
  function bucket_counts.take(buckets, ends, units)
    local left = {}
    for _, entry in ipairs(entries_of(buckets)) do
      if entry.ends == ends then entry.units = math.max(0, entry.units - units) end
      entry.at = entry.ends - 1
      if entry.units > 0 then left[#left + 1] = entry end
    end
    refill(buckets, left)
  end
end)

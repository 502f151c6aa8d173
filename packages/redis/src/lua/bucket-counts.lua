-- Units by the bucket of time they fell in. The twin of bucket-counts.ts.
--
-- The text is "units:first:size:width;" and then `size` counts with commas between them, an empty one for 0: the units of all,
-- which bucket the first is, counted from the clock's zero, how many there are, and how long one is in microseconds.

local bucket_counts = {}

function bucket_counts.empty()
  return { units = 0, first = 0, size = 0, width = 0, body = '', start = 1 }
end

-- More than a limit may have (see bucket-counts.ts): what says so was not written here, and would take for ever to look through.
local MOST_SIZE = 3602
local LARGEST = 2 ^ 53 - 1

-- The buckets that a text tells; nothing when it tells none.
function bucket_counts.read(text)
  -- Only the head is looked at: to look through all counts would take longer than all else.
  local units, first, size, width, start = string.match(text, '^(%d+):(%-?%d+):(%d+):(%d+);()')
  if not units or tonumber(size) > MOST_SIZE or tonumber(width) == 0 then return nil end
  return {
    units = tonumber(units), first = tonumber(first), size = tonumber(size), width = tonumber(width),
    body = text, start = start, -- where the first count begins in `body`
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
  local count, comma = string.match(body, '^(%d*)()', start)
  return tonumber(count) or 0, comma + 1
end

-- Forgets the buckets that end at `micros` or before.
function bucket_counts.drop(buckets, micros)
  local first, body, start, width = buckets.first, buckets.body, buckets.start, buckets.width
  local last = math.min(first + buckets.size, math.floor(micros / width)) - 1
  if buckets.size == 0 or last < first then return end
  if last + 1 - first == buckets.size then
    buckets.units, buckets.start = 0, #body + 1
  else
    local match, units, count = string.match, 0, nil
    for _ = first, last do
      count, start = match(body, '^(%d*),()', start)
      if count ~= '' then units = units + count end
    end
    buckets.units, buckets.start = buckets.units - units, start
    spend((last - first) / 4)
  end
  buckets.first, buckets.size = last + 1, buckets.size - (last + 1 - first)
end

-- The end of the bucket that holds the unit number `units`. There are that many.
function bucket_counts.end_of_unit(buckets, units)
  local body, start, left, count = buckets.body, buckets.start, units, nil
  local match = string.match
  for bucket = buckets.first, buckets.first + buckets.size - 1 do
    count, start = match(body, '^(%d*),?()', start)
    if count ~= '' then left = left - count end
    if left <= 0 then
      spend((bucket - buckets.first) / 4)
      return (bucket + 1) * buckets.width
    end
  end
end

-- The width to go on with, of a limit that would have this one for its window: the finer one, for to go back and forth between
-- two would make what was counted younger each time.
function bucket_counts.width_for(buckets, width, window)
  local finer = buckets.units > 0 and math.min(buckets.width, width) or width
  return window > finer * 3600 and width or finer
end

-- Adds to the bucket in which `micros` lies, not before the newest one; no more than all together can be told exactly.
function bucket_counts.add(buckets, micros, units)
  local bucket = math.floor(micros / buckets.width)
  units = math.min(units, LARGEST - buckets.units)
  if units == 0 then return end
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
  -- Goes over to buckets of another width. What an old one holds goes where its end lies, so that nothing is forgotten too
  -- early; but not beyond `latest`, by which all has been counted.
  function bucket_counts.resize(buckets, width, latest)
    if buckets.size > 0 and buckets.width ~= width then
      local parts, first, newest, sum, start, units = {}, nil, nil, 0, buckets.start, nil
      for index = 1, buckets.size do
        units, start = count_at(buckets.body, start)
        local bucket = math.floor(math.min((buckets.first + index) * buckets.width - 1, latest) / width)
        if units > 0 and bucket ~= newest then
          if newest then parts[#parts + 1] = text_of(sum) .. string.rep(',', bucket - newest) end
          first, newest, sum = first or bucket, bucket, 0
        end
        sum = sum + units
      end
      parts[#parts + 1] = text_of(sum)
      buckets.body, buckets.start = table.concat(parts), 1
      buckets.first, buckets.size = first, newest - first + 1
    end
    buckets.width = width
  end

  -- Takes up to so many units from the bucket in which the moment before `ends` lies.
  function bucket_counts.take(buckets, ends, units)
    local index = math.floor((ends - 1) / buckets.width) - buckets.first
    if index < 0 or index >= buckets.size then return end
    local start, next_start, held = buckets.start, buckets.start, nil
    for _ = 0, index do
      start = next_start
      held, next_start = count_at(buckets.body, start)
    end
    local taken = math.min(held, units)
    local left = held > taken and text_of(held - taken) or ''
    local body = string.sub(buckets.body, buckets.start, start - 1) .. left .. string.sub(buckets.body, next_start - 1)
    -- The last count is above 0.
    buckets.body, buckets.start = string.match(body, '^.*%d') or '', 1
    buckets.size = buckets.body == '' and 0 or buckets.size - (#body - #buckets.body)
    buckets.units = buckets.units - taken
  end
end)

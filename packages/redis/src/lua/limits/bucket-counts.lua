-- Units in buckets of time. The counterpart of bucket-counts.ts. All functions raise 'damaged' if there are fewer counts than `size` or
-- fewer units than `units`.
--
-- The text is "units:first:size:width;" and then `size` counts with commas between them, where an empty count is 0. `units` is
-- the sum of the counts, `first` is the number of the first bucket since the clock's zero, and `width` is in microseconds.

local bucket_counts = {}

function bucket_counts.empty()
  return { units = 0, first = 0, size = 0, width = 0, body = '', start = 1 }
end

-- More buckets than a limit may have (see bucket-counts.ts). A larger value is not ours, and would take too long to read.
local MAX_SIZE <const> = 3602

-- The digits of the largest exact integer.
local MAX_DIGITS <const> = 16

-- Parses the text from `head` on. Returns nil if it is not valid.
function bucket_counts.read(text, head)
  -- Parses the head only, because parsing all counts would take longer than the rest of the check.
  local units, first, size, width, start = string.match(text, '^(%d+):(%-?%d+):(%d+):(%d+);()', head)
  if not units or tonumber(size) > MAX_SIZE or tonumber(width) == 0 then return nil end
  step_count = step_count + #text / 500
  return {
    units = tonumber(units), first = tonumber(first), size = tonumber(size), width = tonumber(width),
    body = text, start = start, -- where the first count starts in `body`
  }
end

-- The text of the buckets, behind `head`.
function bucket_counts.format(head, buckets)
  local body = string.sub(buckets.body, buckets.start)
  step_count = step_count + (#body / 125) -- For all copies that a change has created.
  return head .. string.format('%d:%d:%d:%d;', buckets.units, buckets.first, buckets.size, buckets.width) .. body
end

-- The end of the newest bucket with units; -NEVER if there is none.
function bucket_counts.newest_end(buckets)
  return buckets.size > 0 and (buckets.first + buckets.size) * buckets.width or -NEVER
end

-- The start of the newest bucket with units; -NEVER if there is none.
function bucket_counts.newest_start(buckets)
  return buckets.size > 0 and (buckets.first + buckets.size - 1) * buckets.width or -NEVER
end

-- The count that starts at `start` in the text, and where the next one starts.
local function count_at(body, start)
  local count, comma = string.match(body, '^(%d*)()', start)
  if start > #body + 1 then error('damaged', 0) end
  return tonumber(count) or 0, comma + 1
end

-- Drops the buckets that end at `micros` or before.
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
      if not count then error('damaged', 0) end
      if count ~= '' then units = units + count end
    end
    buckets.units, buckets.start = buckets.units - units, start
    step_count = step_count + (last - first) / 4
  end
  buckets.first, buckets.size = last + 1, buckets.size - (last + 1 - first)
end

-- The end of the bucket that contains the unit number `units`. There are at least that many units.
function bucket_counts.end_of_unit(buckets, units)
  local body, start, left, count = buckets.body, buckets.start, units, nil
  local match = string.match
  for bucket = buckets.first, buckets.first + buckets.size - 1 do
    count, start = match(body, '^(%d*),?()', start)
    if not count then error('damaged', 0) end
    if count ~= '' then left = left - count end
    if left <= 0 then
      step_count = step_count + (bucket - buckets.first) / 4
      return (bucket + 1) * buckets.width
    end
  end
  error('damaged', 0)
end

-- The width with which to continue when a limit with this `width` and `window` records. It is the finer one, because each
-- change to a coarser one makes the counted hits younger.
function bucket_counts.width_for(buckets, width, window)
  local finer = buckets.units > 0 and math.min(buckets.width, width) or width
  return window > finer * 3600 and width or finer
end

-- Adds units to the bucket of `micros`, which is not before the newest one. The oldest units make room for them if the sum
-- would not be exact otherwise.
function bucket_counts.add(buckets, micros, units)
  local bucket, excess = math.floor(micros / buckets.width), units - (MAX_UNITS - buckets.units)
  if excess > 0 then bucket_counts.drop_units(buckets, excess) end
  if buckets.size == 0 then
    buckets.first, buckets.size, buckets.body, buckets.start = bucket, 1, string.format('%d', units), 1
  elseif bucket == buckets.first + buckets.size - 1 then
    -- Searches the end only, because the whole text may have thousands of counts.
    local newest = string.match(string.sub(buckets.body, -MAX_DIGITS), '%d+$') or error('damaged', 0)
    buckets.body = string.sub(buckets.body, 1, -#newest - 1) .. string.format('%d', newest + units)
  else
    local gap = bucket - (buckets.first + buckets.size - 1)
    buckets.body = buckets.body .. string.rep(',', gap) .. string.format('%d', units)
    buckets.size = buckets.size + gap
  end
  buckets.units = buckets.units + units
end

-- Changes the width of the buckets. The units of an old bucket go to the new bucket of its end, so that none is dropped too
-- early. They never go beyond `latest`, the time of the newest unit.
function bucket_counts.resize(buckets, width, latest)
  if buckets.size > 0 and buckets.width ~= width then
    local parts, first, newest, sum, start, units = {}, nil, nil, 0, buckets.start, nil
    for index = 1, buckets.size do
      units, start = count_at(buckets.body, start)
      local bucket = math.floor(math.min((buckets.first + index) * buckets.width - 1, latest) / width)
      if units > 0 and bucket ~= newest then
        if newest then parts[#parts + 1] = string.format('%d', sum) .. string.rep(',', bucket - newest) end
        first, newest, sum = first or bucket, bucket, 0
      end
      sum = sum + units
    end
    step_count = step_count + buckets.size / 2
    if not newest then error('damaged', 0) end
    parts[#parts + 1] = string.format('%d', sum)
    buckets.body, buckets.start = table.concat(parts), 1
    buckets.first, buckets.size = first, newest - first + 1
  end
  buckets.width = width
end

-- Drops the oldest `units` units. There are that many.
function bucket_counts.drop_units(buckets, units)
  local left, count, next_start = units, nil, nil
  buckets.units = buckets.units - units
  step_count = step_count + buckets.size / 2
  while left > 0 do
    count, next_start = count_at(buckets.body, buckets.start)
    if count > left then
      buckets.body = string.format('%d', count - left) .. string.sub(buckets.body, next_start - 1)
      buckets.start = 1
      return
    end
    left, buckets.start = left - count, next_start
    buckets.first, buckets.size = buckets.first + 1, buckets.size - 1
  end
end

-- Drops all but the oldest `units` units. There are more.
function bucket_counts.keep_oldest(buckets, units)
  local body, start, left, count = buckets.body, buckets.start, units, nil
  step_count = step_count + buckets.size / 10
  buckets.units = units
  if units == 0 then buckets.size = 0 return end
  for index = 1, buckets.size do
    local from = start
    count, start = count_at(body, from)
    if count >= left then
      buckets.body, buckets.start = string.sub(body, buckets.start, from - 1) .. string.format('%d', left), 1
      buckets.size = index
      return
    end
    left = left - count
  end
  error('damaged', 0)
end

-- Subtracts up to `units` from the bucket of the microsecond before `ends`.
function bucket_counts.take(buckets, ends, units)
  local index = math.floor((ends - 1) / buckets.width) - buckets.first
  if index < 0 or index >= buckets.size then return end
  local body, start, find = buckets.body, buckets.start, string.find
  for _ = 1, index do start = (find(body, ',', start, true) or error('damaged', 0)) + 1 end
  step_count = step_count + index / 10
  local held, next_start = count_at(body, start)
  local taken = math.min(held, units)
  local left = held > taken and string.format('%d', held - taken) or ''
  body = string.sub(body, buckets.start, start - 1) .. left .. string.sub(body, next_start - 1)
  buckets.body, buckets.start = body, 1
  if left == '' and index + 1 == buckets.size then
    -- Drops the empty buckets at the end, so that the last count is above 0.
    buckets.body = string.match(body, '^.*%d') or ''
    buckets.size = buckets.body == '' and 0 or buckets.size - (#body - #buckets.body)
  end
  buckets.units = buckets.units - taken
end

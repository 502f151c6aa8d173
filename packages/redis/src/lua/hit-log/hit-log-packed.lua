-- The hits of one key as a Redis string, oldest first, with a description of the log at the end. A check reads the last bytes
-- of the string, and writes a hit and a new description over the old one. So most checks need two commands, whatever the length
-- of the log. A search reads more, and a write replaces the whole of a short log.
--
-- All numbers are big-endian. Times are microseconds of Unix time, or of an injected clock. A stamp is the server's time of a
-- record and identifies it. The string consists of these parts:
--   hits            the time of a hit in 7 bytes. From the first hit with a cost other than 1 on, 7 more bytes for its total, which
--                   is the units of all hits up to and including it
--   room            unused bytes. A write that ends before the old end leaves them, because Redis cannot shorten a string
--   gaps            a text, if there are gaps (see hit-log.lua)
--   totals          if there are totals: how many hits at the front have none, with the dropped ones (4), the units before the
--                   oldest hit that the totals include (7), and the size of the gaps (2)
--   min_difference  the longest minDifference of all limits that have recorded (7), if there is one
--   end             the time of the oldest hit (7), the stamp of the first record (7), the keep of the limit that recorded last
--                   (7), how many hits were dropped (4), how many are kept (4), the size of the room (2), and the form (1)
--
-- Dropped hits stay at the front until they are more than 16, and more than a fifth of all hits in the string. The next write
-- then replaces the whole string without them. So does a write of a short log, or one that would leave too much room.
-- hit-log-packed-rewrite.lua has the functions that change other hits than the newest one.
--
-- An opened log has the fields that hit-log.lua describes, and these:
--   dropped_hits    the dropped hits at the front of the string
--   plain_count     how many hits at the front of the string have no total. It is nil without totals, when every hit is one unit
--   is_dated        true if hits may be ahead of now because a queue has recorded their starts
--   length          the length of the string
--   bytes, from     a cached part of the string, and its offset

local log = {}

local pack, unpack_at = struct.pack, struct.unpack
local END <const>, END_SIZE <const> = '>i7i7I7I4I4I2B', 32
local TOTALS <const>, TOTALS_SIZE <const> = '>I4I7I2', 13
-- These bytes never occur in UTF-8, so text by another program is not read as a log.
local FORM, HAS_TOTALS, HAS_MIN_DIFFERENCE, IS_DATED = 0xF8, 1, 2, 4
-- How many bytes `log.open` reads, which has this number as text. They contain all of a short log without totals.
local TAIL <const> = 160
local MAX_SHORT <const>, MAX_ROOM <const> = 16, 65535
-- The times between which a log has been created: 1998 and 2223.
local EARLIEST <const>, LATEST <const> = 900000000000000, 8000000000000000
-- A search that leaves what a check reads continues in the last bytes of the string, which usually contain at least 64 hits.
local NEAR_END <const> = 1024

-- The offset of the hit at `index`.
local function offset_of(hits, index)
  local place, plain_count = hits.dropped_hits + index, hits.plain_count
  if not plain_count or place <= plain_count then return 7 * place end
  return 14 * place - 7 * plain_count
end

-- The bytes between two offsets.
local function read_bytes(hits, start, stop)
  if start >= stop then return '' end
  if start >= hits.from and stop <= hits.from + #hits.bytes then
    return string.sub(hits.bytes, start - hits.from + 1, stop - hits.from)
  end
  count_steps((stop - start) / 300)
  return redis.call('GETRANGE', hits.key, string.format('%d', start), string.format('%d', stop - 1))
end

-- The time of the hit at `index`, and its total if it has one.
local function read(hits, index)
  local start = offset_of(hits, index)
  if start < hits.from or start + 14 > hits.from + #hits.bytes then
    local from, stop = start - 140, start + 153
    if hits.length - start < NEAR_END then from, stop = math.min(from, hits.length - NEAR_END), hits.length end
    hits.from = math.max(0, from)
    count_steps(5)
    hits.bytes = redis.call('GETRANGE', hits.key, string.format('%d', hits.from), string.format('%d', stop))
  end
  local position = start - hits.from + 1
  local time = unpack_at('>i7', hits.bytes, position)
  if not hits.plain_count or hits.dropped_hits + index < hits.plain_count then return time end
  return time, (unpack_at('>I7', hits.bytes, position + 7))
end

function log.empty(key)
  return { key = key, size = 0, dropped = 0, total = 0, refunded = 0, dropped_hits = 0, length = 0, bytes = '', from = 0 }
end

-- Opens the log of a key. `rule` is usually the limit that recorded last, and becomes the recorder if it matches. Raises 'damaged' if
-- the log contradicts itself, so that it is dropped.
function log.open(key, rule)
  local tail = redis.call('GETRANGE', key, '-160', '-1')
  local size = #tail
  if size == 0 then return log.empty(key) end
  local form = size > END_SIZE and string.byte(tail, size) or 0
  if form < FORM or form > FORM + HAS_TOTALS + HAS_MIN_DIFFERENCE + IS_DATED then log.raise_foreign(key) end
  local oldest, created, keep, dropped_hits, count, room = unpack_at(END, tail, size - END_SIZE + 1)
  local hits = {
    key = key, size = count, oldest = oldest, newest = oldest, dropped = 0, total = count, refunded = 0,
    recorder = rule, created = created, dropped_hits = dropped_hits, bytes = tail,
  }
  local end_size = END_SIZE
  if form > FORM then end_size = log.read_unusual_end(hits, tail, form - FORM, keep)
  elseif not rule or rule.keep ~= keep or rule.min_difference > 0 then hits.recorder = { keep = keep, min_difference = 0 } end
  hits.length = offset_of(hits, count) + room + end_size
  hits.from = hits.length - size
  -- Counts that do not match the length must not bound a loop.
  if count == 0 or hits.length ~= (size < TAIL and size or redis.call('STRLEN', key)) then log.raise_contradiction(hits, keep) end
  local newest, total = read(hits, count - 1)
  hits.newest, hits.total = newest, (total or hits.dropped + count) - hits.refunded
  if newest < oldest or hits.total <= hits.dropped or hits.total > MAX_UNITS then log.raise_contradiction(hits, keep) end
  return hits
end

function log.created(hits)
  return hits.stamp or hits.created
end

-- Returns the bytes that follow the room.
local function description(hits, room)
  local form, parts = hits.is_dated and FORM + IS_DATED or FORM, ''
  if hits.plain_count then
    form = form + HAS_TOTALS
    local gaps = hits.gaps and log.gaps_text(hits) or ''
    parts = gaps .. pack(TOTALS, hits.plain_count, hits.dropped, #gaps)
  end
  if hits.recorder.min_difference > 0 then
    form = form + HAS_MIN_DIFFERENCE
    parts = parts .. pack('>I7', hits.recorder.min_difference)
  end
  return parts .. pack(END, hits.oldest, log.created(hits), hits.recorder.keep, hits.dropped_hits, hits.size, room, form)
end

-- Writes these bytes at the offset, where the last hits are, and the description behind them.
local function write(hits, offset, bytes)
  local size = #description(hits, 0)
  local room = math.max(0, hits.length - offset - #bytes - size)
  local is_short = hits.size <= MAX_SHORT or hits.length == 0
  if is_short or room > MAX_ROOM or (hits.dropped_hits > 16 and hits.dropped_hits * 4 > hits.size) then
    bytes = read_bytes(hits, offset_of(hits, 0), offset) .. bytes
    if hits.plain_count then hits.plain_count = math.max(0, hits.plain_count - hits.dropped_hits) end
    hits.dropped_hits = 0
    bytes = bytes .. description(hits, 0)
    redis.call('SET', hits.key, bytes, 'KEEPTTL')
    hits.length, hits.bytes, hits.from = #bytes, bytes, 0
    return
  end
  bytes = bytes .. string.rep('\0', room) .. description(hits, room)
  redis.call('SETRANGE', hits.key, string.format('%d', offset), bytes)
  hits.length, hits.bytes, hits.from = offset + #bytes, bytes, offset
end

-- Adds the newest hit.
function log.append(hits, time, cost)
  if cost ~= 1 and not hits.plain_count then hits.plain_count = hits.dropped_hits + hits.size end
  if hits.size == 0 then hits.oldest = time end
  local offset = offset_of(hits, hits.size)
  hits.size, hits.newest, hits.total = hits.size + 1, time, hits.total + cost
  write(hits, offset, hits.plain_count and pack('>i7I7', time, hits.total + hits.refunded) or pack('>i7', time))
end

-- The units of all hits before `index`, including those before the oldest hit.
function log.total_before(hits, index)
  if index == hits.size then return hits.total end
  if index == 0 then return hits.dropped end
  if not hits.plain_count or hits.dropped_hits + index <= hits.plain_count then return hits.dropped + index end
  local _, total = read(hits, index - 1)
  return total - log.refunded_before(hits, total)
end

-- Drops the hits before `index`. `dropped` is the new number of dropped units, and may include some of the hit at `index`. The
-- next write saves this.
function log.drop(hits, index, dropped)
  if index == hits.size then return log.delete(hits) end
  if index > 0 and hits.gaps and hits.dropped_hits + index > hits.plain_count then
    local _, total = read(hits, index - 1)
    dropped = dropped + log.drop_gaps_before(hits, total)
  end
  hits.oldest = log.time_of(hits, index)
  hits.dropped_hits, hits.size = hits.dropped_hits + index, hits.size - index
  if hits.plain_count then hits.dropped = dropped else hits.total = hits.size end
end

define_lazily(log, function()
  -- A log that contradicts itself is damaged if its description has plausible times. Otherwise another program has written it.
  function log.raise_contradiction(hits, keep)
    if keep > 0 and keep <= MAX_AHEAD and hits.created >= EARLIEST and hits.created <= LATEST then error('damaged', 0) end
    log.raise_foreign(hits.key)
  end

  -- Reads the optional parts before the end, and returns the size of the whole description.
  function log.read_unusual_end(hits, tail, flags, keep)
    local size, longest = END_SIZE, 0
    if flags >= IS_DATED then hits.is_dated, flags = true, flags - IS_DATED end
    if flags >= HAS_MIN_DIFFERENCE then
      size = size + 7
      longest = unpack_at('>I7', tail, #tail - size + 1)
    end
    local recorder = hits.recorder
    if not recorder or recorder.keep ~= keep or recorder.min_difference ~= longest then
      hits.recorder = { keep = keep, min_difference = longest }
    end
    if flags % HAS_MIN_DIFFERENCE == 0 then return size end
    size = size + TOTALS_SIZE
    if size > #tail then log.raise_contradiction(hits, keep) end
    local gaps_size
    hits.plain_count, hits.dropped, gaps_size = unpack_at(TOTALS, tail, #tail - size + 1)
    if gaps_size > 0 then
      local stop = string.format('%d', -size - 1)
      size = size + gaps_size
      log.read_gaps(hits, redis.call('GETRANGE', hits.key, string.format('%d', -size), stop))
    end
    return size
  end

  -- The message if one more hit would make the string longer than Redis allows. GETBIT has the same bound as SETRANGE, but writes
  -- nothing.
  function log.misfit(hits)
    local length = hits.length + 14 + TOTALS_SIZE + 7
    local reply = redis.pcall('GETBIT', hits.key, string.format('%d', 8 * length - 1))
    if type(reply) ~= 'table' or not reply.err or not string.find(reply.err, 'out of range', 1, true) then return nil end
    local expected = 'Expected the log of hits in ' .. hits.key .. ' to be at most `proto-max-bulk-len` bytes long, got '
    return expected .. string.format('%d', length) .. ". Lower the limit or set the store's `log` to 'sorted-set'"
  end
end)

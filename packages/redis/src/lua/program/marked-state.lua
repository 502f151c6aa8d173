-- Reads a state that may have a marker (see string-state.lua). Returns its text, or nil, and the stamp of a reset if there is a marker.
-- Returns false and a message if it fails.
local function read_text(key)
  local text = redis.pcall('GET', key)
  if not text then return nil end
  if text.err then return false, text.err end
  local mark = string.find(text, 'r', 1, true)
  if not mark then return text end
  return mark > 1 and string.sub(text, 1, mark - 1) or nil, tonumber(string.sub(text, mark + 1))
end

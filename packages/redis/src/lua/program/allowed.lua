-- The result of a rule whose action was recorded at now without a delay: see `to_result` in decide.lua.
local function to_allowed(limit, window, remaining, reset, next_unit)
  if reset == window then
    local both = next_unit * (limit + 1) + remaining
    if both < 2 ^ 53 then return string.format('%d', both) end
  end
  return string.format('%d %d %d', remaining, reset, next_unit)
end

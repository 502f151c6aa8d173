-- The part of a state that limits with a minDifference need: the newest action. The counterpart of min-difference.ts.
--
-- A state has these fields:
--   key, reset_stamp       see string-state.lua
--   newest                 the time of the newest action; nil until a limit with a minDifference records
--   longest_difference     the longest minDifference of all limits that have recorded
--   expires                when the state expires; NEVER for a key without a state

local min_difference_state = {}

function min_difference_state.format(state)
  return state.newest and string.format(':%d:%d', state.newest, state.longest_difference) or ''
end

-- Reads what `format` wrote. `expires` is when the rest of the state expires.
function min_difference_state.read(state, newest, longest_difference, expires)
  state.newest, state.longest_difference = tonumber(newest), tonumber(longest_difference)
  if state.newest and not state.longest_difference then string_state.raise_foreign(state.key) end
  state.expires = min_difference_state.expires(state, expires)
end

-- When the state expires if its other parts expire at `expires`.
function min_difference_state.expires(state, expires)
  return state.newest and math.max(expires, state.newest + state.longest_difference) or expires
end

-- How long the state lives after its newest action if its other parts live for `keep`.
function min_difference_state.keep(state, keep)
  return state.newest and math.max(keep, state.longest_difference) or keep
end

-- Whether the state is still valid. Deletes a state that is too far ahead of now, because a broken clock wrote it. `ahead` is
-- whether the other parts are too far ahead, and `keep` is how far ahead the newest action may be.
function min_difference_state.is_valid(rule, state, now, ahead, keep, stamp)
  if state.expires <= now then return false end
  if not ahead and (not state.newest or state.newest - now <= keep) then return true end
  if rule.algorithm.reset then
    rule.algorithm.reset(state.key, stamp)
    state.reset_stamp = stamp
  else
    redis.call('UNLINK', state.key)
  end
  return false
end

-- Records the time of an action. Actions of limits without a minDifference count too once a limit with one has recorded.
function min_difference_state.record(rule, state, now)
  if state.newest then
    state.newest, state.longest_difference = math.max(now, state.newest), math.max(rule.min_difference, state.longest_difference)
  elseif rule.min_difference > 0 then
    state.newest, state.longest_difference = now, rule.min_difference
  end
end

-- Adds the minDifference to the verdict of the other parts. No wait is longer than the state's life, because an expired state
-- rejects nothing.
function min_difference_state.verdict(rule, state, now, cost, verdict)
  local left = state.expires - now
  if rule.min_difference > 0 and state.newest then
    local difference_wait = state.newest + rule.min_difference - now
    if difference_wait > verdict.wait then verdict.wait, verdict.by_min_difference = difference_wait, true end
  end
  if cost > rule.limit then verdict.wait, verdict.by_min_difference = NEVER, nil
  elseif verdict.wait > left then verdict.wait = left end
  if verdict.reset > left then verdict.reset = left end
  if verdict.next_unit > left then verdict.next_unit = left end
  return verdict
end

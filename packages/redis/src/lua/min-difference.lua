-- What limits with one text for a state have in common: the newest action of those with a minDifference, and what a verdict
-- comes to. The twin of min-difference.ts.
--
-- A state has: key, since (see string-state.lua), newest and apart (the newest action, and the longest minDifference of all limits that
-- have recorded; nothing when none had one), and expires: when it is forgotten, NEVER while nothing is known.

local min_difference_state = {}

function min_difference_state.text(state)
  return state.newest and string.format(':%d:%d', state.newest, state.apart) or ''
end

-- Reads what `min_difference_state.text` wrote; the expiry is that of all else.
function min_difference_state.read(state, newest, apart, expires)
  state.newest, state.apart = tonumber(newest), tonumber(apart)
  if state.newest and not state.apart then string_state.refuse(state.key) end
  state.expires = min_difference_state.expires(state, expires)
end

-- When the state is forgotten, if all else is at `expires`.
function min_difference_state.expires(state, expires)
  return state.newest and math.max(expires, state.newest + state.apart) or expires
end

-- How long the state may have to be kept, if all else has to be for `keep`.
function min_difference_state.keep(state, keep)
  return state.newest and math.max(keep, state.apart) or keep
end

-- Whether the state still says something. `ahead` is whether all else lies too far ahead, `keep` how far the newest action
-- may; what does was written by a broken clock, and is forgotten.
function min_difference_state.is_live(rule, state, now, ahead, keep, stamp)
  if state.expires <= now then return false end
  if not ahead and (not state.newest or state.newest - now <= keep) then return true end
  if rule.algorithm.forget then
    rule.algorithm.forget(state.key, stamp)
    state.since = stamp
  else
    redis.call('UNLINK', state.key)
  end
  return false
end

-- Notes an action that is recorded now. One of a limit without a minDifference hides nothing from a limit that has it.
function min_difference_state.note(rule, state, now)
  if state.newest then
    state.newest, state.apart = math.max(now, state.newest), math.max(rule.min_difference, state.apart)
  elseif rule.min_difference > 0 then
    state.newest, state.apart = now, rule.min_difference
  end
end

-- The verdict, when all but the newest action says these. Nothing is in the way when who recorded last has forgotten.
function min_difference_state.verdict(rule, state, now, cost, verdict)
  local left = state.expires - now
  if rule.min_difference > 0 and state.newest then
    local until_apart = state.newest + rule.min_difference - now
    if until_apart > verdict.wait then verdict.wait, verdict.is_apart = until_apart, true end
  end
  if cost > rule.limit then verdict.wait, verdict.is_apart = NEVER, nil
  elseif verdict.wait > left then verdict.wait = left end
  if verdict.reset > left then verdict.reset = left end
  if verdict.steady > left then verdict.steady = left end
  return verdict
end

-- What limits with one text for a state have in common: the newest action of those with a minDifference, and what a verdict
-- comes to. The twin of spacing.ts.
--
-- A state has: key, since (see cell.lua), newest and apart (the newest action, and the minDifference of who recorded it), and
-- expires: when who recorded last forgets it, NEVER while nothing is known.

local spacing = {}

function spacing.text(state)
  return state.newest and string.format(':%d:%d', state.newest, state.apart) or ''
end

-- Reads what `spacing.text` wrote; the expiry is that of all else.
function spacing.read(state, newest, apart, expires)
  state.newest, state.apart, state.expires = tonumber(newest), tonumber(apart), expires
  if not state.newest then return end
  if not state.apart then cell.refuse(state.key) end
  state.expires = math.max(expires, state.newest + state.apart)
end

-- Whether the state still says something. `ahead` is whether all else lies too far ahead, `keep` how far the newest action
-- may; what does was written by a broken clock, and is forgotten.
function spacing.is_live(rule, state, now, ahead, keep, stamp)
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

-- Notes an action that is recorded now.
function spacing.note(rule, state, now)
  if rule.min_difference == 0 then
    state.newest = nil
  else
    state.newest, state.apart = math.max(now, state.newest or now), rule.min_difference
  end
end

-- The verdict, when all but the newest action says these. Nothing is in the way when who recorded last has forgotten.
function spacing.verdict(rule, state, now, cost, verdict)
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

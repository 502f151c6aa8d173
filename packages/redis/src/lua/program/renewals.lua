-- Extends leases. An algorithm with leases has the step `renew`:
--
--   renew(key, input, first, last, now, lost)
--       extends the leases from `first` to `last` of a renewal's input, which have this key. Adds the indices of those that are
--       lost to `lost`. Returns when the key expires if that has changed

local function renew_all(algorithm, input, stamp, first_key, count)
  local injected_now, lost, first = input[1], {}, 1
  local now = injected_now or stamp
  while first <= count do
    -- The client sends the leases of a key in a row, because the calls for a key take most of the time.
    local key, last = KEYS[first_key + first], first
    while last < count and KEYS[first_key + last + 1] == key do last = last + 1 end
    local expires = algorithm.renew(key, input, first, last, now, lost)
    if expires then expire(key, expires, expires - now, injected_now) end
    first = last + 1
  end
  return table.concat(lost, ' ')
end

function kinds.renew(plan, input, stamp, first_key)
  local count = (#input - 1) / 4
  return change_without_memory(first_key, count, renew_all, plan[1].algorithm, input, stamp, first_key, count)
end

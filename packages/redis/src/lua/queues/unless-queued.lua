  -- A part of main.lua in the scripts of a store with queues. "unless-queued" and a number of queues may follow a run of checks. Each
  -- check then has the keys of its queues behind its own. If one of them has tickets, the check leaves its line empty and does nothing.
  local queue_count = 0
  if values[position] == 'unless-queued' then queue_count, position = tonumber(values[position + 1]), position + 2 end
  key_count = key_count + queue_count

  -- A part of main.lua in the scripts of a store with queues. "unless-queued" and a number of queues may follow a run of checks. Each
  -- check then has the keys of its queues behind its own. If one of them has tickets, the check leaves its line empty and does nothing.
  if ARGV[position] == 'unless-queued' then
    local check, own_count, queue_count = run, key_count, tonumber(ARGV[position + 1])
    key_count, position = own_count + queue_count, position + 2
    function run(check_plan, check_input, stamp, first_key)
      for index = first_key + own_count + 1, first_key + key_count do
        if call('ZCOUNT', keys[index], '0', '+inf') > 0 then return '' end
      end
      return check(check_plan, check_input, stamp, first_key)
    end
  end

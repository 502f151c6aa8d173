    -- The part of main.lua before each operation.
    for index = next_key - queue_count + 1, next_key do
      if redis.call('ZCOUNT', keys[index], '0', '+inf') > 0 then line = '' end
    end

    -- The part of main.lua before each operation.
    for index = next_key + key_count - queue_count + 1, next_key + key_count do
      if redis.call('ZCOUNT', keys[index], '0', '+inf') > 0 then line = '' end
    end

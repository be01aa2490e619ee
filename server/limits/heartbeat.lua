-- Says that a process is there, and answers how many are.
-- KEYS[1]: the processes, by when they last said so. ARGV: the process; how long that counts, in ms, or 0 to take leave.

local key, process, lifeMs = KEYS[1], ARGV[1], tonumber(ARGV[2])
if lifeMs == 0 then
  redis.call('ZREM', key, process)
else
  local now = nowMs()
  redis.call('ZADD', key, now, process)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now - lifeMs)
  -- Of a clock that was set back since.
  redis.call('ZREMRANGEBYSCORE', key, now + lifeMs, '+inf')
  redis.call('PEXPIRE', key, lifeMs)
end
return redis.call('ZCARD', key)

-- Records that a process is alive, and returns the number of processes.
-- KEYS[1]: the processes by their last heartbeat. ARGV: the process; how long a heartbeat counts, in ms, or 0 to leave.

local key, process, lifeMs = KEYS[1], ARGV[1], tonumber(ARGV[2])
if lifeMs == 0 then
  redis.call('ZREM', key, process)
else
  local now = nowMs()
  redis.call('ZADD', key, now, process)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now - lifeMs)
  -- These entries are from before the clock was set back.
  redis.call('ZREMRANGEBYSCORE', key, now + lifeMs, '+inf')
  redis.call('PEXPIRE', key, lifeMs)
end
return redis.call('ZCARD', key)

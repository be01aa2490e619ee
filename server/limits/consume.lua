-- Counts one request against all counters, or against none if one of them is used up.
-- KEYS: the counters. ARGV: the quota of each.
-- Returns: 1 or 0, seconds to wait, the time (ms); then for each counter the remaining quota and the seconds until it
-- grows.
--
-- An element is added once and dropped once, and a call reads two more: amortised O(1). Only just after a quota
-- was lowered, a refusal reads all slots (601 at most).

-- A clock that was set back by less than this stands still. If it was set back by more, all counts are as of now.
local clockToleranceMs = 1000

local now = nowMs()

-- Drops the slots that have left the window, and slots whose requests were all refunded.
local function open(key)
  local at = now
  local newest = read(key, -1)
  if newest and newest.last > now then
    if newest.last - now <= clockToleranceMs then
      at = newest.last
    else
      newest = { last = now, before = read(key, 0).before, after = newest.after }
      redis.call('DEL', key)
      redis.call('RPUSH', key, text(newest))
      redis.call('PEXPIRE', key, windowMs)
    end
  end
  local oldest = read(key, 0)
  while oldest and (oldest.last + windowMs <= at or oldest.before == oldest.after) do
    redis.call('LPOP', key)
    oldest = read(key, 0)
  end
  if not oldest then return { key = key, at = at, sum = 0 } end
  if slotOf(oldest.last) == slotOf(newest.last) then oldest = newest end
  return { key = key, at = at, sum = newest.after - oldest.before, oldest = oldest, newest = newest }
end

local function add(counter)
  local newest = counter.newest
  if newest and slotOf(newest.last) == slotOf(counter.at) then
    newest.last = counter.at
    newest.after = newest.after + 1
    redis.call('LSET', counter.key, -1, text(newest))
  else
    local before = newest and newest.after or 0
    newest = { last = counter.at, before = before, after = before + 1 }
    redis.call('RPUSH', counter.key, text(newest))
    counter.oldest = counter.oldest or newest
  end
  redis.call('PEXPIRE', counter.key, windowMs)
  counter.newest = newest
  counter.sum = counter.sum + 1
end

-- Returns the whole seconds until then: at least 1, at most the window.
local function waitSeconds(counter, thenMs)
  return math.min(math.max(1, math.ceil((thenMs - counter.at) / 1000)), windowMs / 1000)
end

-- Returns the seconds until the counter is below the quota if nothing is added; 0 if it already is.
local function secondsToRoom(counter, quota)
  if counter.sum < quota then return 0 end
  local index, slot = 0, counter.oldest
  while slot and counter.newest.after - slot.after >= quota do
    index = index + 1
    slot = read(counter.key, index)
  end
  -- A quota of 0 never has room: check again after a window.
  if not slot then return windowMs / 1000 end
  return waitSeconds(counter, slot.last + windowMs)
end

local counters = {}
local allowed = 1
for index, key in ipairs(KEYS) do
  counters[index] = open(key)
  if counters[index].sum >= tonumber(ARGV[index]) then allowed = 0 end
end

local answer = { allowed, 0, now }
for index, counter in ipairs(counters) do
  local quota = tonumber(ARGV[index])
  if allowed == 1 then
    add(counter)
  else
    answer[2] = math.max(answer[2], secondsToRoom(counter, quota))
  end
  answer[#answer + 1] = math.max(0, quota - counter.sum)
  answer[#answer + 1] = counter.oldest and waitSeconds(counter, counter.oldest.last + windowMs) or 1
end
return answer

-- Common code of the rate limiter's scripts; it is prepended to each of them.
--
-- A counter is a list with one element for each slot of 100 ms in which something was counted, oldest first:
-- "last before after" is the time of its last request (ms since 1970, by this server's clock), and the number of
-- requests counted before and after it. The sum of the window is the newest `after` less the oldest `before`.

local windowMs = 60000
local slotMs = 100

local function nowMs()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function slotOf(timeMs)
  return math.floor(timeMs / slotMs)
end

-- Returns the slot at an index, from 0 for the oldest or from -1 for the newest; nil if it does not exist.
local function read(key, index)
  local text = redis.call('LINDEX', key, index)
  if not text then return nil end
  local last, before, after = text:match('^(%d+) (%d+) (%d+)$')
  return { last = tonumber(last), before = tonumber(before), after = tonumber(after) }
end

local function text(slot)
  return string.format('%.0f %.0f %.0f', slot.last, slot.before, slot.after)
end

-- Removes one request from the slot in which it was counted, if that still exists.
-- KEYS: the counters. ARGV[1]: the time that `take` returned.

-- Starts at the newest slot, because a refund comes soon after the count; later slots count one less.
for _, key in ipairs(KEYS) do
  local index = -1
  local slot = read(key, index)
  while slot and slotOf(slot.last) > slotOf(tonumber(ARGV[1])) do
    index = index - 1
    slot = read(key, index)
  end
  if slot and slotOf(slot.last) == slotOf(tonumber(ARGV[1])) and slot.after > slot.before then
    slot.after = slot.after - 1
    redis.call('LSET', key, index, text(slot))
    for later = index + 1, -1 do
      slot = read(key, later)
      slot.before = slot.before - 1
      slot.after = slot.after - 1
      redis.call('LSET', key, later, text(slot))
    end
  end
end
return 0

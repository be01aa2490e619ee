-- Reading one record needs the inclusion path of its leaf, six hashes, and computing it from the leaves of a full seal
-- takes 63: that was most of the time of a page whose records come from many seals. So a seal keeps the nodes of its
-- tree that lie two levels above the leaves and higher, up to below the root, level by level, 32 bytes each. The level
-- between is one hash away from the leaves. Null in seals older than this column: their paths are computed.
alter table hub.seals add column upper_nodes bytea;
-- Two seals to a page, in the row itself: behind a pointer, each would be a second look-up.
alter table hub.seals set (toast_tuple_target = 4064);

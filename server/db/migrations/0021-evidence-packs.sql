-- The request of an evidence pack beyond its period: the note, and whether it has content. Null for an export.
alter table hub.exports add column pack jsonb;

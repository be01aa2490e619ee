-- Proves the additions to the figures besides records: the last ratings of events, and the sums of erased events. One
-- row for each tenant that has any holds a keyed sum of each, which the database cannot compute (server/db/adjustment-sums.ts). The
-- program proves the rows that exist in the transaction of this migration.
create table hub.adjustment_proofs (
  tenant_id text not null,
  -- Sums modulo 2^128, in hexadecimal digits.
  ratings text not null,
  erased text not null,
  -- The newest event of a rating or an erasure that the sums include.
  event_id uuid,
  -- Null makes the row invalid.
  proof bytea,
  primary key (tenant_id)
);
select hub.distribute('hub.adjustment_proofs');
select hub.isolate('hub.adjustment_proofs');
grant select, insert, update on hub.adjustment_proofs to hub_app;

-- What keeps records, what lets them go, and what proves both: legal holds, retention, erasure, the tenant's log, exports.

-- ── The tenant's log ─────────────────────────────────────────────────────────────────────────────────────

-- Seals that are stored and not in the log yet: written in the transaction that writes them, whoever commits first,
-- and deleted by the transaction that gives them their place in the log. One row for the seals of a transaction.
create table hub.seal_arrivals (
  tenant_id text not null,
  -- The first of the seals.
  arrival_id uuid not null,
  seal_ids uuid[] not null,
  -- Between which ids the records of each seal lie, both included.
  first_ids uuid[] not null,
  last_ids uuid[] not null,
  -- The leaf of each seal, 32 bytes each; null where it is to be computed from the seal.
  log_leaves bytea,
  primary key (tenant_id, arrival_id)
);
-- Before there was a log, too.
alter table hub.seals no force row level security;
alter table hub.records no force row level security;
insert into hub.seal_arrivals (tenant_id, arrival_id, seal_ids, first_ids, last_ids)
  select s.tenant_id, s.seal_id, array[s.seal_id], array[coalesce(r.first_id, s.seal_id)], array[coalesce(r.last_id, s.seal_id)]
  from hub.seals s left join (
    select tenant_id, seal_id, min(record_id::text)::uuid as first_id, max(record_id::text)::uuid as last_id
    from hub.records group by tenant_id, seal_id
  ) r on r.tenant_id = s.tenant_id and r.seal_id = s.seal_id
  on conflict do nothing;
alter table hub.seals force row level security;
alter table hub.records force row level security;
select hub.distribute('hub.seal_arrivals');
select hub.isolate('hub.seal_arrivals');
grant select, insert, delete on hub.seal_arrivals to hub_app;
grant insert on hub.seal_arrivals to hub_ingest;
-- Rows live a second.
alter table hub.seal_arrivals set
  (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_insert_threshold = -1);

-- The leaves of the log in their order, from 0 on without a gap. Never changed, never deleted.
create table hub.log_entries (
  tenant_id text not null,
  log_index bigint not null,
  seal_id uuid not null,
  first_id uuid not null,
  last_id uuid not null,
  primary key (tenant_id, log_index)
);
select hub.distribute('hub.log_entries');
select hub.isolate('hub.log_entries');
grant select, insert on hub.log_entries to hub_app;
create unique index log_entries_by_seal on hub.log_entries (tenant_id, seal_id);

-- The tree over them in tiles of up to 256 hashes of 32 bytes (C2SP tlog-tiles): tile n of level l holds the roots of
-- the complete subtrees of height 8 l, from the (256 n)th on. Only the last tile of a level grows.
create table hub.log_tiles (
  tenant_id text not null,
  level bigint not null,
  tile_index bigint not null,
  hashes bytea not null,
  primary key (tenant_id, level, tile_index)
);
select hub.distribute('hub.log_tiles');
select hub.isolate('hub.log_tiles');
grant select, insert on hub.log_tiles to hub_app;
grant update (hashes) on hub.log_tiles to hub_app;

-- The newest state of the log, signed (C2SP tlog-checkpoint).
create table hub.log_heads (
  tenant_id text primary key,
  tree_size bigint not null,
  root bytea not null,
  checkpoint text not null,
  signed_at timestamptz not null
);
select hub.distribute('hub.log_heads');
select hub.isolate('hub.log_heads');
grant select, insert on hub.log_heads to hub_app;
grant update (tree_size, root, checkpoint, signed_at) on hub.log_heads to hub_app;

-- A key that follows another is introduced by a note that the one before has signed.
alter table hub.published_keys add column succession text;
alter table hub.provenance_keys add column succession text;

-- ── Holds and retention ──────────────────────────────────────────────────────────────────────────────────

-- A hold is over the records that hub.legal_hold_records names, or over all that match the filter, later ones too.
create table hub.legal_holds (
  tenant_id text not null,
  hold_id uuid not null,
  name text not null,
  reason text not null,
  filter jsonb,
  -- How many records it names; null if it has a filter.
  record_count integer,
  created_at timestamptz not null,
  created_by text not null,
  released_at timestamptz,
  released_by text,
  release_reason text,
  -- The governance events that tell of its beginning and of its end. An end that no event tells of is none.
  event_id uuid,
  release_event_id uuid,
  primary key (tenant_id, hold_id)
);
select hub.distribute('hub.legal_holds');
select hub.isolate('hub.legal_holds');
grant select, insert on hub.legal_holds to hub_app;
grant update (released_at, released_by, release_reason, release_event_id) on hub.legal_holds to hub_app;
create index legal_holds_in_force on hub.legal_holds (tenant_id, hold_id) where released_at is null;
create index legal_holds_filtering on hub.legal_holds (tenant_id, hold_id) where filter is not null and released_at is null;
create index legal_holds_with_filter on hub.legal_holds (tenant_id, hold_id) where filter is not null;
create index legal_holds_released on hub.legal_holds (tenant_id, released_at) where released_at is not null;
create index legal_holds_released_by on hub.legal_holds (tenant_id, released_by, released_at)
  where released_at is not null;

create table hub.legal_hold_records (
  tenant_id text not null,
  record_id uuid not null,
  hold_id uuid not null,
  primary key (tenant_id, record_id, hold_id)
);
select hub.distribute('hub.legal_hold_records');
select hub.isolate('hub.legal_hold_records');
grant select, insert on hub.legal_hold_records to hub_app;
create index legal_hold_records_by_hold on hub.legal_hold_records (tenant_id, hold_id, record_id);

create table hub.retention_rules (
  tenant_id text not null,
  record_type text not null,
  min_days integer,
  max_days integer,
  primary key (tenant_id, record_type)
);
select hub.distribute('hub.retention_rules');
select hub.isolate('hub.retention_rules');
grant select, insert, update, delete on hub.retention_rules to hub_app;

-- With four eyes, whoever releases may not purge. event_id is the governance event that tells of these and of the rules.
create table hub.retention_settings (
  tenant_id text primary key,
  four_eyes boolean not null,
  event_id uuid
);
select hub.distribute('hub.retention_settings');
select hub.isolate('hub.retention_settings');
grant select, insert, update on hub.retention_settings to hub_app;

-- A release lets a governance event go only if a governance event tells of it; those from before have theirs, too.
alter table hub.legal_hold_releases add column event_id uuid;
alter table hub.legal_hold_releases no force row level security;
alter table hub.records no force row level security;
update hub.legal_hold_releases r set event_id = e.event_id from (
  select distinct on (tenant_id, release_id) tenant_id, release_id, record_id as event_id from (
    select tenant_id, record_id, substring(canonical from '"release_id":"([0-9a-f-]+)"') as release_id from hub.records
    where event_kind = 'hub.legal_hold_released'
  ) events
  order by tenant_id, release_id, record_id
) e where e.tenant_id = r.tenant_id and e.release_id = r.release_id::text;
alter table hub.legal_hold_releases force row level security;
alter table hub.records force row level security;

-- event_id is the governance event that tells of the last change of state. While a hold freezes the recovery buffer of
-- a purged record, hard_delete_after is the end of the year 9999, and what was left of the buffer stands beside it, in microseconds.
alter table hub.record_states add column event_id uuid, add column buffer_left_micros bigint;
create index record_states_by_end on hub.record_states (tenant_id, hard_delete_after) where hard_delete_after is not null;
-- What was purged or restored before has its event too.
alter table hub.record_states no force row level security;
alter table hub.records no force row level security;
update hub.record_states s set event_id = e.event_id from (
  select distinct on (tenant_id, subject) tenant_id, subject, record_id as event_id from (
    -- Not parsed: what somebody has edited must not stop the migration.
    select tenant_id, record_id, substring(canonical from '"subject":"(record:[0-9a-f-]+)"') as subject from hub.records
    where event_kind in ('hub.record_purged', 'hub.record_restored')
  ) events
  order by tenant_id, subject, record_id desc
) e where e.tenant_id = s.tenant_id and e.subject = 'record:' || s.record_id::text;
alter table hub.record_states force row level security;
alter table hub.records force row level security;

-- ── Erasure ──────────────────────────────────────────────────────────────────────────────────────────────

-- What stays of a record that was erased, besides its leaf in the seal.
create table hub.tombstones (
  tenant_id text not null,
  record_id uuid not null,
  record_type text not null,
  seal_id uuid not null,
  leaf_index smallint not null,
  purged_at timestamptz not null,
  purged_by text not null,
  purge_reason text not null,
  -- The governance events of the purge and of the erasure.
  purge_event_id uuid,
  event_id uuid not null,
  erased_at timestamptz not null,
  primary key (tenant_id, record_id)
);
select hub.distribute('hub.tombstones');
select hub.isolate('hub.tombstones');
grant select, insert on hub.tombstones to hub_app;
create index tombstones_by_time on hub.tombstones (tenant_id, erased_at, record_id);
create index tombstones_by_seal on hub.tombstones (tenant_id, seal_id, leaf_index);

-- The only way to delete a record. It takes those alone that have their tombstone, in the transaction of the tenant,
-- and answers how many there were: the application may not delete records by itself.
create function hub.erase_records(tenant text, ids uuid[]) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  erased integer;
begin
  if tenant is distinct from current_setting('hub.tenant_id', true) then
    raise exception 'the records belong to another tenant than the transaction' using errcode = 'insufficient_privilege';
  end if;
  if exists (
    select from unnest(ids) as wanted (id)
    where not exists (select from hub.tombstones t where t.tenant_id = tenant and t.record_id = wanted.id)
  ) then
    raise exception 'a record without a tombstone cannot be erased' using errcode = 'insufficient_privilege';
  end if;
  delete from hub.records r where r.tenant_id = tenant and r.record_id = any (ids);
  get diagnostics erased = row_count;
  delete from hub.record_links l where l.tenant_id = tenant and l.from_id = any (ids);
  delete from hub.record_states s where s.tenant_id = tenant and s.record_id = any (ids);
  return erased;
end
$$;
revoke all on function hub.erase_records(text, uuid[]) from public;
grant execute on function hub.erase_records(text, uuid[]) to hub_app;

-- Rows of the grain 'erased' are quarters of the view 'all': what erased events have added to the rows of other grains,
-- for a rebuild, which could not reckon it any more.
alter table hub.telemetry_rollups drop constraint telemetry_rollups_grain;
alter table hub.telemetry_rollups
  add constraint telemetry_rollups_grain check (grain in ('quarter', 'day', 'erased'));

-- A version stays known when its skill_definition is erased; what it was called does not.
alter table hub.skill_versions alter column name drop not null;

-- ANALYZE keeps some values of each column, and keeps them when their rows are gone, until it comes by again: of columns
-- whose values must not outlive their rows it takes none. They are looked up by indexes that give rows in the order of
-- the pages, for which no statistics are needed. The change of type to itself drops what there is.
do $$
declare
  c record;
begin
  for c in
    select * from (values
      ('records', 'user_id', 'text'), ('records', 'event_kind', 'text'), ('records', 'canonical', 'text'),
      ('records', 'salt', 'bytea'), ('records', 'provenance_hash', 'bytea'), ('skill_versions', 'name', 'text'),
      ('telemetry_rollups', 'user_id', 'text'), ('telemetry_deltas', 'entries', 'text')
    ) as erased (name, attribute, type)
  loop
    execute format('alter table hub.%I alter column %I type %s, alter column %I set statistics 0',
      c.name, c.attribute, c.type, c.attribute);
  end loop;
end
$$;

create or replace function hub.ensure_record_partitions(months_ahead integer) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  month timestamptz;
  leaf text;
  made integer := 0;
begin
  if months_ahead is null or months_ahead not between 0 and 24 then
    raise exception 'months_ahead must be from 0 to 24' using errcode = 'invalid_parameter_value';
  end if;
  perform pg_advisory_xact_lock(hashtext('hub.ensure_record_partitions'));
  for month in
    select m at time zone 'UTC'
    from generate_series(
      date_trunc('month', now() at time zone 'UTC') - interval '1 month',
      date_trunc('month', now() at time zone 'UTC') + make_interval(months => months_ahead),
      interval '1 month') m
  loop
    leaf := 'records_' || to_char(month at time zone 'UTC', '"y"YYYY"m"MM');
    continue when to_regclass('hub.' || leaf) is not null;
    execute format('create table hub.%I (like hub.records including defaults including constraints)', leaf);
    execute format('alter table hub.%I alter column user_id set statistics 0, alter column event_kind set statistics 0,
      alter column canonical set statistics 0, alter column salt set statistics 0,
      alter column provenance_hash set statistics 0', leaf);
    execute format('alter table hub.records attach partition hub.%I for values from (%L) to (%L)', leaf,
      hub.first_record_id(month),
      hub.first_record_id(((month at time zone 'UTC') + interval '1 month') at time zone 'UTC'));
    execute format('grant insert on hub.%I to hub_ingest', leaf);
    made := made + 1;
  end loop;
  return made;
end
$$;

-- ── Exports ──────────────────────────────────────────────────────────────────────────────────────────────

create table hub.exports (
  tenant_id text not null,
  job_id text not null,
  status text not null,
  format text not null,
  -- Null, or gzip.
  compression text,
  filter jsonb not null,
  -- Those that its creator could see.
  record_types text[] not null,
  verify boolean not null,
  include_provenance boolean not null,
  created_by text not null,
  created_at timestamptz not null,
  estimated_completion_at timestamptz not null,
  -- Whoever begins to write it counts this up, and whoever still works for an earlier number stops.
  attempt integer not null,
  -- Attempts, but for those that a worker gave up because it was told to stop.
  tries integer not null,
  -- Records of the range of the log that it covers.
  done bigint not null,
  total bigint not null,
  -- Of the last attempt.
  started_at timestamptz,
  completed_at timestamptz,
  expires_at timestamptz,
  size_bytes bigint,
  -- Whether there may be something of it in the storage.
  has_files boolean not null,
  verification_summary jsonb,
  -- A problem slug and a sentence.
  error jsonb,
  primary key (tenant_id, job_id),
  constraint exports_status check (status in ('queued', 'running', 'completed', 'failed', 'cancelled', 'expired'))
);
select hub.distribute('hub.exports');
select hub.isolate('hub.exports');
grant select, insert on hub.exports to hub_app;
grant update (status, estimated_completion_at, attempt, tries, done, total, started_at, completed_at, expires_at,
  size_bytes, has_files, verification_summary, error) on hub.exports to hub_app;
create index exports_by_age on hub.exports (tenant_id, created_at, job_id);
-- Those that are under way, and those whose files are to go one day.
create index exports_open on hub.exports (tenant_id, job_id) where status in ('queued', 'running') or has_files;

-- ── The sweeper ──────────────────────────────────────────────────────────────────────────────────────────

-- How far re-verification has come: `all` goes round through the whole log, `recent` follows its end.
create table hub.sweeps (
  tenant_id text not null,
  lane text not null,
  log_index bigint not null,
  -- Once the log was gone through: up to which id all records were asked for their place in it.
  after_id uuid,
  -- Until then the process that claimed it goes on alone.
  claimed_until timestamptz,
  started_at timestamptz not null,
  updated_at timestamptz not null,
  -- The last whole pass.
  finished_at timestamptz,
  -- Of this pass.
  checked bigint not null,
  failed bigint not null,
  primary key (tenant_id, lane)
);
select hub.distribute('hub.sweeps');
select hub.isolate('hub.sweeps');
grant select, insert, update on hub.sweeps to hub_app;

-- ── Reports of tampering ─────────────────────────────────────────────────────────────────────────────────

-- A claim names the governance event that it stands for: one that names none does not keep a report from being made.
-- Those from before named none; what they were about is reported once more.
alter table hub.tamper_reports add column event_id uuid;
grant update (event_id) on hub.tamper_reports to hub_app;
truncate hub.tamper_reports;

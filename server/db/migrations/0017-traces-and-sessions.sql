-- The trace and the session that a telemetry event belongs to, for the pages of one trace or session. They are null for
-- all other records, and the indexes leave those out. No statistics, as of other columns that can name people (0008).

alter table hub.records add column trace_id text, add column session_id text;
alter table hub.records alter column trace_id set statistics 0, alter column session_id set statistics 0;

create index records_by_trace on hub.records (tenant_id, trace_id, record_id) where trace_id is not null;
create index records_by_session on hub.records (tenant_id, session_id, record_id) where session_id is not null;

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
      alter column provenance_hash set statistics 0, alter column trace_id set statistics 0,
      alter column session_id set statistics 0', leaf);
    execute format('alter table hub.records attach partition hub.%I for values from (%L) to (%L)', leaf,
      hub.first_record_id(month),
      hub.first_record_id(((month at time zone 'UTC') + interval '1 month') at time zone 'UTC'));
    execute format('grant insert on hub.%I to hub_ingest', leaf);
    made := made + 1;
  end loop;
  return made;
end
$$;

-- The application may change less: what the service never changes, nobody who finds a way into it can.

revoke update on hub.tenants, hub.published_keys, hub.token_keys, hub.provenance_keys, hub.service_accounts,
  hub.service_account_secrets, hub.magic_links from hub_app;
-- A key is retired, and nothing else about it ever changes.
grant update (retired_at) on hub.published_keys to hub_app;
grant update (retired_at) on hub.token_keys to hub_app;
grant update (retired_at) on hub.provenance_keys to hub_app;
grant update (disabled_at, last_used_at) on hub.service_accounts to hub_app;
grant update (expires_at) on hub.service_account_secrets to hub_app;
grant update (consumed_at) on hub.magic_links to hub_app;

-- As before, but for at most two years ahead: a caller cannot fill the catalog with empty partitions.
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
    execute format('alter table hub.records attach partition hub.%I for values from (%L) to (%L)', leaf,
      hub.first_record_id(month),
      hub.first_record_id(((month at time zone 'UTC') + interval '1 month') at time zone 'UTC'));
    execute format('grant insert on hub.%I to hub_ingest', leaf);
    made := made + 1;
  end loop;
  return made;
end
$$;

-- The planner's samples of a table are shown to whoever may select from it in whatever database of the server, schema
-- or not (pg_stats): so the registries, which no row-level security hides, have none. The change of type to itself
-- drops those that there are.
do $$
declare
  c record;
begin
  for c in
    select a.attrelid::regclass as registry, a.attname, format_type(a.atttypid, a.atttypmod) as type
    from pg_attribute a
    where a.attrelid = any (array['hub.tenants', 'hub.client_directory', 'hub.published_keys', 'hub.token_keys']::regclass[])
      and a.attnum > 0 and not a.attisdropped
  loop
    execute format('alter table %s alter column %I type %s, alter column %I set statistics 0',
      c.registry, c.attname, c.type, c.attname);
  end loop;
end
$$;

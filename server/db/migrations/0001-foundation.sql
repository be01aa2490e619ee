-- The store of organisational records, the tenants that own them, and what signs and counts them.
--
-- Rules that every later migration keeps (tests/db/schema-rules.test.ts holds the schema to them):
--   * a table with a column tenant_id is a tenant table: tenant_id leads its primary key and every unique
--     constraint, row-level security is enabled and forced, and its one policy compares tenant_id with the
--     tenant that hub.set_tenant() named for the transaction;
--   * tables without tenant_id are registries that every process reads: they hold no tenant's content.

create schema if not exists hub;
grant usage on schema hub to hub_app, hub_ingest;

-- The tenant of a transaction. SET LOCAL and not set_config(): only the former reaches the workers of a
-- distributed database. Called once, right after BEGIN.
create function hub.set_tenant(tenant text) returns void
language plpgsql as $$
begin
  execute format('set local hub.tenant_id = %L', tenant);
end
$$;
revoke all on function hub.set_tenant(text) from public;
grant execute on function hub.set_tenant(text) to hub_app, hub_ingest;

-- Distributes a table by tenant where the database is a cluster; does nothing on one server.
create function hub.distribute(target regclass) returns void
language plpgsql as $$
begin
  if exists (select from pg_catalog.pg_extension where extname = 'citus') then
    perform pg_catalog.set_config('citus.shard_replication_factor', '1', true);
    execute format('select create_distributed_table(%L, %L)', target::text, 'tenant_id');
  end if;
end
$$;
revoke all on function hub.distribute(regclass) from public;

-- Locks a tenant table to the tenant of the transaction.
create function hub.isolate(target regclass) returns void
language plpgsql as $$
begin
  execute format('alter table %s enable row level security', target);
  execute format('alter table %s force row level security', target);
  execute format(
    'create policy tenant_isolation on %s using (tenant_id = current_setting(''hub.tenant_id'', true))', target);
end
$$;
revoke all on function hub.isolate(regclass) from public;

-- ── Registries ───────────────────────────────────────────────────────────────────────────────────────────

create table hub.tenants (
  slug text primary key,
  mode text not null,
  base_url text unique,
  -- Opaque, so that published keys name no tenant.
  log_name text not null unique,
  created_at timestamptz not null,
  constraint tenants_slug check (slug ~ '^[a-z][a-z0-9-]{1,62}$'),
  constraint tenants_mode check (mode in ('A', 'B', 'C'))
);
grant select, insert, update on hub.tenants to hub_app;

-- A token request names a client, not a tenant: this finds the tenant, and nothing else.
create table hub.client_directory (
  client_id text primary key,
  tenant_slug text not null
);
grant select, insert, delete on hub.client_directory to hub_app;

-- Public halves of all provenance keys ever used. Never withdrawn.
create table hub.published_keys (
  key_id text primary key,
  name text not null,
  public_key bytea not null,
  created_at timestamptz not null,
  retired_at timestamptz
);
grant select, insert, update on hub.published_keys to hub_app;

-- Keys that sign access tokens; the private half is sealed under the master key.
create table hub.token_keys (
  key_id text primary key,
  algorithm text not null,
  public_jwk jsonb not null,
  private_key_sealed bytea not null,
  created_at timestamptz not null,
  retired_at timestamptz
);
grant select, insert, update on hub.token_keys to hub_app;

-- ── Tenants' own tables ──────────────────────────────────────────────────────────────────────────────────

create table hub.tenant_settings (
  tenant_id text primary key,
  display_name text not null,
  admin_email text not null,
  retention_days integer,
  provisioned_at timestamptz,
  live_since timestamptz,
  updated_at timestamptz not null
);
select hub.distribute('hub.tenant_settings');
select hub.isolate('hub.tenant_settings');
grant select, insert, update on hub.tenant_settings to hub_app;

create table hub.tenant_limits (
  tenant_id text not null,
  class text not null,
  per_token integer not null,
  per_tenant integer not null,
  primary key (tenant_id, class)
);
select hub.distribute('hub.tenant_limits');
select hub.isolate('hub.tenant_limits');
grant select, insert, update, delete on hub.tenant_limits to hub_app;

create table hub.provenance_keys (
  tenant_id text not null,
  key_id text not null,
  name text not null,
  public_key bytea not null,
  private_key_sealed bytea not null,
  created_at timestamptz not null,
  retired_at timestamptz,
  primary key (tenant_id, key_id)
);
select hub.distribute('hub.provenance_keys');
select hub.isolate('hub.provenance_keys');
grant select, insert, update on hub.provenance_keys to hub_app;

create table hub.service_accounts (
  tenant_id text not null,
  client_id text not null,
  name text not null,
  scopes text[] not null,
  created_at timestamptz not null,
  disabled_at timestamptz,
  last_used_at timestamptz,
  primary key (tenant_id, client_id),
  constraint service_accounts_name unique (tenant_id, name)
);
select hub.distribute('hub.service_accounts');
select hub.isolate('hub.service_accounts');
grant select, insert, update on hub.service_accounts to hub_app;

-- At most two live secrets per client, so that one can be rotated without an outage.
create table hub.service_account_secrets (
  tenant_id text not null,
  client_id text not null,
  secret_hash bytea not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  primary key (tenant_id, client_id, secret_hash)
);
select hub.distribute('hub.service_account_secrets');
select hub.isolate('hub.service_account_secrets');
grant select, insert, update, delete on hub.service_account_secrets to hub_app;

create table hub.magic_links (
  tenant_id text not null,
  token_hash bytea not null,
  email text not null,
  purpose text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  consumed_at timestamptz,
  primary key (tenant_id, token_hash)
);
select hub.distribute('hub.magic_links');
select hub.isolate('hub.magic_links');
grant select, insert, update, delete on hub.magic_links to hub_app;

create table hub.archetypes (
  tenant_id text not null,
  archetype_id text not null,
  name text,
  primary key (tenant_id, archetype_id)
);
select hub.distribute('hub.archetypes');
select hub.isolate('hub.archetypes');
grant select, insert, update, delete on hub.archetypes to hub_app;

create table hub.skills (
  tenant_id text not null,
  skill_id text not null,
  state text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, skill_id)
);
select hub.distribute('hub.skills');
select hub.isolate('hub.skills');
grant select, insert, update on hub.skills to hub_app;

-- Each version is a skill_definition record. It starts as a draft; the skill's own state is in hub.skills.
create table hub.skill_versions (
  tenant_id text not null,
  skill_id text not null,
  skill_version text not null,
  state text not null,
  name text not null,
  record_id uuid not null,
  created_at timestamptz not null,
  primary key (tenant_id, skill_id, skill_version)
);
select hub.distribute('hub.skill_versions');
select hub.isolate('hub.skill_versions');
grant select, insert, update on hub.skill_versions to hub_app;

-- ── Records ──────────────────────────────────────────────────────────────────────────────────────────────

-- One row per record, never updated by the service: the application role may select and insert, no more.
-- canonical is the record; the columns before it are copies to search by, and every verification compares
-- them. created_at is not a column: record_id carries the same clock reading, so one order and one index
-- serve both. The cosignature is rebuilt from the seal.
create table hub.records (
  tenant_id text not null,
  record_id uuid not null,
  record_type text not null,
  created_by text not null,
  skill_id text,
  archetype_id text,
  user_id text,
  event_kind text,
  cost_micros bigint,
  seal_id uuid not null,
  leaf_index smallint not null,
  salt bytea not null,
  provenance_hash bytea not null,
  canonical text not null,
  primary key (tenant_id, record_id)
) partition by range (record_id);
select hub.distribute('hub.records');
select hub.isolate('hub.records');
grant select, insert on hub.records to hub_app;

create index records_by_type on hub.records (tenant_id, record_type, record_id);
create index records_by_creator on hub.records (tenant_id, created_by, record_id);
create index records_by_skill on hub.records (tenant_id, skill_id, record_id) where skill_id is not null;
create index records_by_archetype on hub.records (tenant_id, archetype_id, record_id) where archetype_id is not null;
create index records_by_user on hub.records (tenant_id, user_id, record_id) where user_id is not null;
create index records_by_event_kind on hub.records (tenant_id, event_kind, record_id) where event_kind is not null;
create index records_by_cost on hub.records (tenant_id, cost_micros, record_id) where cost_micros is not null;

-- One signature over the Merkle root of up to 64 records of one commit. leaves is their leaf hashes, 32 bytes
-- each: the root, and every record's inclusion path, are computed from it.
create table hub.seals (
  tenant_id text not null,
  seal_id uuid not null,
  key_id text not null,
  sealed_at timestamptz not null,
  leaves bytea not null,
  signature bytea not null,
  primary key (tenant_id, seal_id)
);
select hub.distribute('hub.seals');
select hub.isolate('hub.seals');
grant select, insert on hub.seals to hub_app;
grant insert on hub.seals to hub_ingest;

-- related_records, searchable from both ends. No foreign keys to records: they would block dropping a partition.
create table hub.record_links (
  tenant_id text not null,
  from_id uuid not null,
  to_id uuid not null,
  primary key (tenant_id, from_id, to_id)
);
select hub.distribute('hub.record_links');
select hub.isolate('hub.record_links');
grant select, insert on hub.record_links to hub_app;
create index record_links_by_target on hub.record_links (tenant_id, to_id, from_id);

-- What may change about a record. A record that was never purged has no row.
create table hub.record_states (
  tenant_id text not null,
  record_id uuid not null,
  revision integer not null,
  purged_at timestamptz,
  purged_by text,
  purge_reason text,
  hard_delete_after timestamptz,
  primary key (tenant_id, record_id)
);
select hub.distribute('hub.record_states');
select hub.isolate('hub.record_states');
grant select, insert, update on hub.record_states to hub_app;

-- A governance event may be purged only while a release for it is active.
create table hub.legal_hold_releases (
  tenant_id text not null,
  release_id uuid not null,
  record_id uuid not null,
  reason text not null,
  created_at timestamptz not null,
  created_by text not null,
  expires_at timestamptz,
  primary key (tenant_id, release_id)
);
select hub.distribute('hub.legal_hold_releases');
select hub.isolate('hub.legal_hold_releases');
grant select, insert on hub.legal_hold_releases to hub_app;
create index legal_hold_releases_by_record on hub.legal_hold_releases (tenant_id, record_id);

-- Makes "once per record and UTC day" a primary key.
create table hub.tamper_reports (
  tenant_id text not null,
  record_id uuid not null,
  reported_on date not null,
  primary key (tenant_id, record_id, reported_on)
);
select hub.distribute('hub.tamper_reports');
select hub.isolate('hub.tamper_reports');
grant select, insert, delete on hub.tamper_reports to hub_app;

-- What a repeated request is answered with: digests and ids, never content.
create table hub.idempotency_keys (
  tenant_id text not null,
  key_digest bytea not null,
  request_digest bytea not null,
  answer jsonb not null,
  created_at timestamptz not null,
  primary key (tenant_id, key_digest)
);
select hub.distribute('hub.idempotency_keys');
select hub.isolate('hub.idempotency_keys');
grant select, insert, delete on hub.idempotency_keys to hub_app;
grant insert on hub.idempotency_keys to hub_ingest;
create index idempotency_keys_by_age on hub.idempotency_keys (tenant_id, created_at);

-- ── Partitions ───────────────────────────────────────────────────────────────────────────────────────────

-- Makes the monthly partitions of hub.records from last month to months_ahead, and returns how many were new.
-- A partition carries no policy, because PostgreSQL refuses COPY into a table with row-level security; so the
-- insert-only role is the only one that may touch it, and all it may do is add rows. Everything else goes
-- through the parent and its policy.
create function hub.ensure_record_partitions(months_ahead integer) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  month timestamptz;
  leaf text;
  made integer := 0;
begin
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

-- The smallest UUIDv7 of a time (RFC 9562, section 5.7).
create function hub.first_record_id(moment timestamptz) returns uuid
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select (lpad(to_hex((extract(epoch from moment) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;
revoke all on function hub.ensure_record_partitions(integer), hub.first_record_id(timestamptz) from public;
grant execute on function hub.ensure_record_partitions(integer) to hub_app;

-- From nothing to live: the company's directory, its connectors, packs and grants of skills, its own encryption keys.

-- ── The directory ────────────────────────────────────────────────────────────────────────────────────────

-- How the company's directory reaches the Hub: it pushes by SCIM, or the Hub pulls. One of a tenant.
create table hub.scim_configurations (
  tenant_id text not null,
  connection_id text not null,
  mode text not null,
  -- Of pull.
  base_url text,
  bearer_token_sealed bytea,
  -- Of push: a keyed hash; the one before stays good while it is rotated.
  token_hash bytea,
  former_token_hash bytea,
  former_token_until timestamptz,
  -- `[{"group", "archetype_id"}]`
  group_archetype_map jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- The last request of a directory that pushes; not every one is noted.
  last_request_at timestamptz,
  primary key (tenant_id),
  constraint scim_configurations_mode check (mode in ('push', 'pull'))
);
select hub.distribute('hub.scim_configurations');
select hub.isolate('hub.scim_configurations');
grant select, insert, update, delete on hub.scim_configurations to hub_app;

-- What the directory says of a person: user_id is that of hub.users, and the id of the SCIM resource.
create table hub.directory_users (
  tenant_id text not null,
  user_id text not null,
  user_name text not null,
  -- What user names are compared by: the lower-case form.
  user_name_key text not null,
  external_id text,
  active boolean not null,
  -- The rest of the SCIM resource, as it was given.
  attributes jsonb not null,
  -- Counts the changes: the ETag.
  revision integer not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- The last sync that met it.
  seen_by text,
  primary key (tenant_id, user_id)
);
select hub.distribute('hub.directory_users');
select hub.isolate('hub.directory_users');
grant select, insert, update, delete on hub.directory_users to hub_app;
create unique index directory_users_by_name on hub.directory_users (tenant_id, user_name_key);
create index directory_users_by_external_id on hub.directory_users (tenant_id, external_id);
create index directory_users_by_age on hub.directory_users (tenant_id, created_at, user_id);

create table hub.directory_groups (
  tenant_id text not null,
  group_id text not null,
  display_name text not null,
  display_name_key text not null,
  external_id text,
  attributes jsonb not null,
  revision integer not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  seen_by text,
  primary key (tenant_id, group_id)
);
select hub.distribute('hub.directory_groups');
select hub.isolate('hub.directory_groups');
grant select, insert, update, delete on hub.directory_groups to hub_app;
create unique index directory_groups_by_name on hub.directory_groups (tenant_id, display_name_key);
create index directory_groups_by_external_id on hub.directory_groups (tenant_id, external_id);
create index directory_groups_by_age on hub.directory_groups (tenant_id, created_at, group_id);

create table hub.directory_members (
  tenant_id text not null,
  group_id text not null,
  user_id text not null,
  primary key (tenant_id, group_id, user_id)
);
select hub.distribute('hub.directory_members');
select hub.isolate('hub.directory_members');
grant select, insert, delete on hub.directory_members to hub_app;
create index directory_members_by_user on hub.directory_members (tenant_id, user_id, group_id);

-- The archetypes of a person, by groups or by hand. By hand wins: see hub.users.archetypes_by_hand.
create table hub.user_archetypes (
  tenant_id text not null,
  user_id text not null,
  archetype_id text not null,
  assigned_at timestamptz not null,
  primary key (tenant_id, user_id, archetype_id)
);
select hub.distribute('hub.user_archetypes');
select hub.isolate('hub.user_archetypes');
grant select, insert, delete on hub.user_archetypes to hub_app;
create index user_archetypes_by_archetype on hub.user_archetypes (tenant_id, archetype_id, user_id);

-- Set by hand: groups no longer decide.
alter table hub.users add column archetypes_by_hand boolean not null default false;
grant update (archetypes_by_hand) on hub.users to hub_app;
-- Whom a person deactivated, no directory brings back.
alter table hub.users add column deactivated_by_hand boolean not null default false;
grant update (deactivated_by_hand) on hub.users to hub_app;

-- A person whose directory names no address has an empty one.
drop index hub.users_by_email;
create unique index users_by_email on hub.users (tenant_id, email_key) where deactivated_at is null and email_key <> '';

create table hub.roster_syncs (
  tenant_id text not null,
  sync_id text not null,
  mode text not null,
  status text not null,
  created_at timestamptz not null,
  created_by text not null,
  started_at timestamptz,
  finished_at timestamptz,
  -- Where a sync that broke off goes on: `{"phase", "start_index"}`.
  position jsonb,
  done integer not null default 0,
  total integer,
  added integer not null default 0,
  updated integer not null default 0,
  deactivated integer not null default 0,
  unmatched integer not null default 0,
  -- Entries of the directory that could not be read or kept.
  skipped integer not null default 0,
  -- Counts the processes that took it up: only the last one changes it.
  attempt integer not null default 0,
  -- Whom it would deactivate, and why that is in doubt, while it waits for a confirmation.
  to_deactivate integer,
  confirmation_reason text,
  confirmed_at timestamptz,
  confirmed_by text,
  error jsonb,
  primary key (tenant_id, sync_id),
  constraint roster_syncs_status
    check (status in ('queued', 'running', 'awaiting_confirmation', 'completed', 'failed', 'cancelled'))
);
select hub.distribute('hub.roster_syncs');
select hub.isolate('hub.roster_syncs');
grant select, insert, update, delete on hub.roster_syncs to hub_app;
create index roster_syncs_by_age on hub.roster_syncs (tenant_id, created_at, sync_id);

-- What a sync that runs has met, by the ids of the company's directory, which group memberships name.
create table hub.roster_sync_entries (
  tenant_id text not null,
  sync_id text not null,
  -- user or group
  kind text not null,
  source_id text not null,
  -- What the Hub knows it by; no two entries of a kind have the same.
  external_id text not null,
  primary key (tenant_id, sync_id, kind, source_id)
);
select hub.distribute('hub.roster_sync_entries');
select hub.isolate('hub.roster_sync_entries');
grant select, insert, delete on hub.roster_sync_entries to hub_app;
create unique index roster_sync_entries_by_external_id
  on hub.roster_sync_entries (tenant_id, sync_id, kind, external_id);

-- ── Packs and grants ─────────────────────────────────────────────────────────────────────────────────────

-- A pack of skills for archetypes.
create table hub.coworks (
  tenant_id text not null,
  cowork_id text not null,
  name text not null,
  -- Registrations, as PUT gives them: json keeps the order of their members.
  skills json not null,
  archetype_ids text[] not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- The last application: when, by whom, and its answer.
  applied_at timestamptz,
  applied_by text,
  application json,
  primary key (tenant_id, cowork_id)
);
select hub.distribute('hub.coworks');
select hub.isolate('hub.coworks');
grant select, insert, update, delete on hub.coworks to hub_app;

create table hub.skill_grants (
  tenant_id text not null,
  archetype_id text not null,
  skill_id text not null,
  granted_at timestamptz not null,
  -- The pack that gave it; null where it was granted by itself.
  cowork_id text,
  primary key (tenant_id, archetype_id, skill_id)
);
select hub.distribute('hub.skill_grants');
select hub.isolate('hub.skill_grants');
grant select, insert, update, delete on hub.skill_grants to hub_app;
create index skill_grants_by_skill on hub.skill_grants (tenant_id, skill_id, archetype_id);

-- ── Connectors ───────────────────────────────────────────────────────────────────────────────────────────

create table hub.connectors (
  tenant_id text not null,
  connector_id text not null,
  platform text not null,
  display_name text not null,
  delivery text not null,
  publish_url text,
  credentials_sealed bytea,
  created_at timestamptz not null,
  created_by text not null,
  updated_at timestamptz not null,
  removed_at timestamptz,
  primary key (tenant_id, connector_id),
  constraint connectors_delivery check (delivery in ('push', 'pull'))
);
select hub.distribute('hub.connectors');
select hub.isolate('hub.connectors');
grant select, insert, update on hub.connectors to hub_app;
create unique index connectors_by_name on hub.connectors (tenant_id, platform, display_name) where removed_at is null;
create index connectors_by_age on hub.connectors (tenant_id, created_at, connector_id);

-- How delivery to a connector goes. A process that publishes claims it first.
create table hub.connector_deliveries (
  tenant_id text not null,
  connector_id text not null,
  claimed_until timestamptz,
  claimed_by text,
  due_at timestamptz not null,
  -- The receiver has asked not to be called before.
  not_before timestamptz,
  attempted_at timestamptz,
  published_at timestamptz,
  -- Of the manifest that was published.
  etag text,
  failures integer not null,
  error jsonb,
  -- What an adapter has to remember, such as the ids that a vendor gave to skills.
  state jsonb,
  primary key (tenant_id, connector_id)
);
select hub.distribute('hub.connector_deliveries');
select hub.isolate('hub.connector_deliveries');
grant select, insert, update, delete on hub.connector_deliveries to hub_app;

create table hub.republishes (
  tenant_id text not null,
  job_id text not null,
  status text not null,
  created_at timestamptz not null,
  created_by text not null,
  started_at timestamptz,
  finished_at timestamptz,
  done integer not null,
  total integer not null,
  -- By connector: `[{"connector_id", "published_at"} | {"connector_id", "error"}]`.
  results jsonb not null,
  error jsonb,
  primary key (tenant_id, job_id),
  constraint republishes_status check (status in ('queued', 'running', 'completed', 'failed'))
);
select hub.distribute('hub.republishes');
select hub.isolate('hub.republishes');
grant select, insert, update, delete on hub.republishes to hub_app;
create index republishes_by_age on hub.republishes (tenant_id, created_at, job_id);

-- ── The customer's own keys (Mode B) ─────────────────────────────────────────────────────────────────────

-- Keys that encrypt content, each wrapped by the customer's. The wrapped form is forgotten when it is destroyed.
create table hub.content_keys (
  tenant_id text not null,
  key_id text not null,
  provider text not null,
  key_ref text not null,
  wrapped bytea,
  state text not null,
  created_at timestamptz not null,
  -- When it was wrapped last.
  wrapped_at timestamptz not null,
  retired_at timestamptz,
  destroyed_at timestamptz,
  -- The governance event that tells of its end.
  event_id uuid,
  primary key (tenant_id, key_id),
  constraint content_keys_state check (state in ('active', 'retired', 'destroyed'))
);
select hub.distribute('hub.content_keys');
select hub.isolate('hub.content_keys');
grant select, insert, update on hub.content_keys to hub_app;
create unique index content_keys_active on hub.content_keys (tenant_id) where state = 'active';

-- The first step of an ingest transaction that stores content under a key: it is the active one until the transaction
-- ends. The class of the lock is that of server/db/advisory-locks.ts.
create function hub.require_content_key(tenant text, key text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform pg_advisory_xact_lock_shared(1869768547, hashtext(tenant));
  if not exists (
    select from hub.content_keys k where k.tenant_id = tenant and k.key_id = key and k.state = 'active'
  ) then
    raise exception 'the content key is not the active one' using errcode = '9K001';
  end if;
end
$$;
revoke all on function hub.require_content_key(text, text) from public;
grant execute on function hub.require_content_key(text, text) to hub_ingest;

-- ── Tenants ──────────────────────────────────────────────────────────────────────────────────────────────

alter table hub.tenant_settings
  -- When the tenant's administrators confirmed its details.
  add column confirmed_at timestamptz,
  -- Free words for the tenant's own use, such as a contact.
  add column contact_email text;
-- An operator may close a tenant: nobody gets in, and nothing is lost.
alter table hub.tenants add column suspended_at timestamptz;
alter table hub.tenants alter column suspended_at set statistics 0;
grant update (base_url, suspended_at) on hub.tenants to hub_app;

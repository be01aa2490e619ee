-- People who sign in, how they do it, and what ends it.

-- A person of a tenant. `sub` of tokens and `created_by` of records is user_id, never the address, so that a person
-- can be forgotten. Raising epoch ends every access token that was issued before.
create table hub.users (
  tenant_id text not null,
  user_id text not null,
  email text not null,
  -- What addresses are compared by: the lower-case form.
  email_key text not null,
  display_name text,
  role text not null,
  epoch integer not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deactivated_at timestamptz,
  last_sign_in_at timestamptz,
  primary key (tenant_id, user_id),
  constraint users_role check (role in ('admin', 'auditor', 'analyst', 'member'))
);
select hub.distribute('hub.users');
select hub.isolate('hub.users');
grant select, insert on hub.users to hub_app;
grant update (email, email_key, display_name, role, epoch, updated_at, deactivated_at, last_sign_in_at)
  on hub.users to hub_app;
-- An address may be given to somebody else once its first owner has left.
create unique index users_by_email on hub.users (tenant_id, email_key) where deactivated_at is null;
create index users_by_role on hub.users (tenant_id, role) where deactivated_at is null;
create index users_by_former_email on hub.users (tenant_id, email_key) where deactivated_at is not null;
create index users_by_age on hub.users (tenant_id, created_at, user_id);

-- How the tenant's people sign in at their company. The identity of a person is (connection, subject): a changed
-- issuer or client is another connection.
create table hub.sso_connections (
  tenant_id text not null,
  connection_id text not null,
  issuer text not null,
  client_id text not null,
  client_secret_sealed bytea not null,
  allowed_email_domains text[] not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  replaced_at timestamptz,
  primary key (tenant_id, connection_id)
);
select hub.distribute('hub.sso_connections');
select hub.isolate('hub.sso_connections');
grant select, insert on hub.sso_connections to hub_app;
grant update (client_secret_sealed, allowed_email_domains, updated_at, replaced_at) on hub.sso_connections to hub_app;
create unique index sso_connections_current on hub.sso_connections (tenant_id) where replaced_at is null;

create table hub.user_identities (
  tenant_id text not null,
  connection_id text not null,
  subject text not null,
  user_id text not null,
  created_at timestamptz not null,
  primary key (tenant_id, connection_id, subject)
);
select hub.distribute('hub.user_identities');
select hub.isolate('hub.user_identities');
grant select, insert, delete on hub.user_identities to hub_app;
create unique index user_identities_by_user on hub.user_identities (tenant_id, user_id, connection_id);

-- A login transaction ends with the first callback that names its state.
create table hub.spent_logins (
  tenant_id text not null,
  state_hash bytea not null,
  spent_at timestamptz not null,
  primary key (tenant_id, state_hash)
);
select hub.distribute('hub.spent_logins');
select hub.isolate('hub.spent_logins');
grant select, insert, delete on hub.spent_logins to hub_app;
create index spent_logins_by_age on hub.spent_logins (tenant_id, spent_at);

-- How many links an address was sent lately.
create index magic_links_by_address on hub.magic_links (tenant_id, email, created_at);

create table hub.sessions (
  tenant_id text not null,
  session_id text not null,
  user_id text not null,
  method text not null,
  connection_id text,
  address text not null,
  user_agent text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  ended_at timestamptz,
  primary key (tenant_id, session_id)
);
select hub.distribute('hub.sessions');
select hub.isolate('hub.sessions');
grant select, insert, delete on hub.sessions to hub_app;
grant update (ended_at) on hub.sessions to hub_app;
create index sessions_by_user on hub.sessions (tenant_id, user_id, created_at);
create index sessions_by_end on hub.sessions (tenant_id, expires_at);

-- The refresh tokens that follow from one call with the session cookie. Only the newest generation may be used;
-- rotations holds [generation, milliseconds since 1970] of those that were followed a moment ago, for parallel tabs.
create table hub.refresh_families (
  tenant_id text not null,
  family_id text not null,
  session_id text not null,
  generation integer not null,
  rotated_at timestamptz not null,
  rotations jsonb not null,
  created_at timestamptz not null,
  primary key (tenant_id, family_id)
);
select hub.distribute('hub.refresh_families');
select hub.isolate('hub.refresh_families');
grant select, insert, delete on hub.refresh_families to hub_app;
grant update (generation, rotated_at, rotations) on hub.refresh_families to hub_app;
create index refresh_families_by_session on hub.refresh_families (tenant_id, session_id, created_at);

-- Service accounts: what ends them, and from where they may come.
alter table hub.service_accounts
  add column epoch integer not null default 1,
  add column expires_at timestamptz,
  -- Networks in CIDR notation; null is anywhere.
  add column allowed_addresses text[],
  add column updated_at timestamptz;
grant update (name, scopes, epoch, expires_at, allowed_addresses, updated_at) on hub.service_accounts to hub_app;
create index service_accounts_by_age on hub.service_accounts (tenant_id, created_at, client_id);

-- Access tokens that are refused before they expire: those of a principal (`user:…`, `client:…`, `session:…`) whose
-- epoch is below min_epoch. Every process reads it, so it is a registry; it names no person, and rows go once the last
-- token they concern has expired.
create table hub.revocations (
  tenant_slug text not null,
  principal text not null,
  min_epoch integer not null,
  revoked_at timestamptz not null,
  primary key (tenant_slug, principal)
);
alter table hub.revocations alter column tenant_slug set statistics 0, alter column principal set statistics 0,
  alter column min_epoch set statistics 0, alter column revoked_at set statistics 0;
grant select, insert, delete on hub.revocations to hub_app;
grant update (min_epoch, revoked_at) on hub.revocations to hub_app;
create index revocations_by_age on hub.revocations (revoked_at);

-- What the Hub tells other systems, and what they tell it.

-- ── Endpoints ────────────────────────────────────────────────────────────────────────────────────────────

create table hub.webhooks (
  tenant_id text not null,
  webhook_id text not null,
  url text not null,
  description text,
  -- Kinds, and families of kinds such as `user.*`.
  events text[] not null,
  -- Which invocations it is told of: `{"skill_ids"?: [], "archetype_ids"?: []}`.
  filters jsonb not null,
  -- From what on a single invocation is told: `{"latency_ms"?, "cost_usd"?}`.
  thresholds jsonb not null,
  -- Rules over windows of time, see webhooks-types.ts.
  alerts jsonb not null,
  secret_sealed bytea not null,
  -- The one before stays good while it is rotated.
  former_secret_sealed bytea,
  former_secret_until timestamptz,
  created_at timestamptz not null,
  created_by text not null,
  updated_at timestamptz not null,
  disabled_at timestamptz,
  disabled_reason text,
  -- From then on nothing is told of it but this, for a while.
  removed_at timestamptz,
  primary key (tenant_id, webhook_id),
  constraint webhooks_disabled_reason check (disabled_reason in ('by_hand', 'gone', 'failing'))
);
select hub.distribute('hub.webhooks');
select hub.isolate('hub.webhooks');
grant select, insert, update, delete on hub.webhooks to hub_app;
create index webhooks_by_age on hub.webhooks (tenant_id, created_at, webhook_id) where removed_at is null;
create index webhooks_removed on hub.webhooks (tenant_id, removed_at) where removed_at is not null;

-- How delivery to an endpoint goes. A process that delivers leases it first, so that one process alone delivers to it.
create table hub.webhook_progress (
  tenant_id text not null,
  webhook_id text not null,
  -- Of the last message that was queued for it.
  last_sequence bigint not null,
  leased_by text,
  leased_until timestamptz,
  -- Attempts in a row that failed, and since when.
  failures integer not null,
  failing_since timestamptz,
  attempted_at timestamptz,
  delivered_at timestamptz,
  -- Since when what waits longest is given up, because too much waits.
  overflowing_since timestamptz,
  primary key (tenant_id, webhook_id)
);
select hub.distribute('hub.webhook_progress');
select hub.isolate('hub.webhook_progress');
grant select, insert, update, delete on hub.webhook_progress to hub_app;

-- ── The outbox ───────────────────────────────────────────────────────────────────────────────────────────

-- What a transaction has to tell: written by the transaction itself, ingest among them, and turned into deliveries soon
-- after it has committed. The form of messages is in outbox-message.ts. Rows come and go, as those of the deltas do.
create table hub.webhook_outbox (
  tenant_id text not null,
  outbox_id uuid not null,
  messages text not null,
  primary key (tenant_id, outbox_id)
);
select hub.distribute('hub.webhook_outbox');
select hub.isolate('hub.webhook_outbox');
grant select, insert, update, delete on hub.webhook_outbox to hub_app;
grant insert on hub.webhook_outbox to hub_ingest;
-- Without statistics, here and below: they would keep what is erased.
alter table hub.webhook_outbox alter column messages set storage external, alter column messages set statistics 0;
alter table hub.webhook_outbox set
  (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_insert_threshold = -1);

-- ── Deliveries ───────────────────────────────────────────────────────────────────────────────────────────

-- A message to one endpoint, and how its delivery went.
create table hub.webhook_deliveries (
  tenant_id text not null,
  delivery_id uuid not null,
  webhook_id text not null,
  -- Counts the messages to the endpoint, from 1 and without gaps.
  sequence bigint not null,
  -- `id` of the body, the same for every endpoint that is told.
  message_id uuid not null,
  kind text not null,
  occurred_at timestamptz not null,
  -- `data` of the body, as JSON. Null once what it tells of was erased.
  data text,
  -- Whose record, and which person, it tells of: so that it is found when they are erased.
  record_id uuid,
  user_id text,
  status text not null,
  -- Attempts since it was queued, or queued again.
  tries integer not null,
  -- Attempts in all.
  attempt_count integer not null,
  -- Null where there is nothing more to do.
  next_attempt_at timestamptz,
  -- The last ones, as delivery-types.ts says.
  attempts jsonb not null,
  created_at timestamptz not null,
  delivered_at timestamptz,
  primary key (tenant_id, delivery_id),
  constraint webhook_deliveries_status check (status in ('pending', 'delivered', 'failed', 'dead'))
);
select hub.distribute('hub.webhook_deliveries');
select hub.isolate('hub.webhook_deliveries');
grant select, insert, update, delete on hub.webhook_deliveries to hub_app;
alter table hub.webhook_deliveries alter column kind set statistics 0, alter column data set statistics 0,
  alter column user_id set statistics 0, alter column attempts set statistics 0;
-- What is known of tenants is old soon: of one that is new it says that it has nothing, and all of it is read then.
alter table hub.webhook_deliveries alter column tenant_id set statistics 0;
create unique index webhook_deliveries_by_sequence on hub.webhook_deliveries (tenant_id, webhook_id, sequence);
create index webhook_deliveries_due on hub.webhook_deliveries (tenant_id, webhook_id, next_attempt_at, sequence)
  where next_attempt_at is not null;
-- They are sent before what waits, and also while the endpoint is disabled.
create index webhook_deliveries_tests on hub.webhook_deliveries (tenant_id, webhook_id, sequence)
  where kind = 'webhook.test' and next_attempt_at is not null;
create index webhook_deliveries_failed on hub.webhook_deliveries (tenant_id, webhook_id, status, sequence)
  where status in ('failed', 'dead');
create index webhook_deliveries_of_record on hub.webhook_deliveries (tenant_id, record_id) where record_id is not null;
create index webhook_deliveries_of_user on hub.webhook_deliveries (tenant_id, user_id) where user_id is not null;

-- ── Alerts ───────────────────────────────────────────────────────────────────────────────────────────────

-- Episodes that have not ended: a rule of an endpoint, and the skill, user or archetype that it is exceeded for.
create table hub.webhook_alerts (
  tenant_id text not null,
  webhook_id text not null,
  -- Of what the rule means; the endpoint may have another one by now, and the rule itself tells what this one was.
  rule_id text not null,
  rule jsonb not null,
  group_key text not null,
  alert_id uuid not null,
  opened_at timestamptz not null,
  -- Since when it would have ended, were it not to stay so for a while.
  recovering_since timestamptz,
  -- As last seen.
  value double precision not null,
  invocations bigint not null,
  seen_at timestamptz not null,
  primary key (tenant_id, webhook_id, rule_id, group_key)
);
select hub.distribute('hub.webhook_alerts');
select hub.isolate('hub.webhook_alerts');
grant select, insert, update, delete on hub.webhook_alerts to hub_app;

alter table hub.webhook_alerts alter column group_key set statistics 0;

-- ── Inbound ──────────────────────────────────────────────────────────────────────────────────────────────

-- A call that comes in names a connection, not a tenant: this finds the tenant, and nothing else.
create table hub.inbound_directory (
  connection_id text primary key,
  tenant_slug text not null
);
grant select, insert, delete on hub.inbound_directory to hub_app;

-- What a connection signs with: a connector (kind `connector`), or the SCIM configuration (kind `scim`).
create table hub.inbound_secrets (
  tenant_id text not null,
  connection_id text not null,
  kind text not null,
  secret_sealed bytea not null,
  former_secret_sealed bytea,
  former_secret_until timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, connection_id),
  constraint inbound_secrets_kind check (kind in ('connector', 'scim'))
);
select hub.distribute('hub.inbound_secrets');
select hub.isolate('hub.inbound_secrets');
grant select, insert, update, delete on hub.inbound_secrets to hub_app;

-- Messages that were taken, so that each has its effect once.
create table hub.inbound_messages (
  tenant_id text not null,
  connection_id text not null,
  message_id text not null,
  received_at timestamptz not null,
  primary key (tenant_id, connection_id, message_id)
);
select hub.distribute('hub.inbound_messages');
select hub.isolate('hub.inbound_messages');
grant select, insert, delete on hub.inbound_messages to hub_app;
create index inbound_messages_by_age on hub.inbound_messages (tenant_id, received_at);

-- The numbers behind the command center, and the prices they are reckoned with.

-- What one ingest transaction adds to the numbers: written in the transaction that writes the records, and deleted by
-- the transaction that folds it into hub.telemetry_rollups. Readers add what is not folded yet. No row is shared by
-- two writers, so ingest never waits for another. The form of entries is in rollup-delta.ts.
create table hub.telemetry_deltas (
  tenant_id text not null,
  delta_id uuid not null,
  entries text not null,
  primary key (tenant_id, delta_id)
);
select hub.distribute('hub.telemetry_deltas');
select hub.isolate('hub.telemetry_deltas');
grant select, insert, delete on hub.telemetry_deltas to hub_app;
grant insert on hub.telemetry_deltas to hub_ingest;
-- It lives a second: compressing it would cost more than it saves. Rows come and go, so the dead ones must go soon.
alter table hub.telemetry_deltas alter column entries set storage external;
alter table hub.telemetry_deltas set
  (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_insert_threshold = -1);

-- One row per span of time, view and combination of the view's dimensions. The view 'all' keeps all five dimensions
-- apart, the others fewer, so that a question reads as few rows as it can. Dimensions that a view does not keep are
-- null, and so is the model of events that name none. first_quarter counts quarters of an hour since 1970; a row of
-- the grain 'day' covers 96 of them. latency is a sketch, see latency-sketch.ts.
create table hub.telemetry_rollups (
  tenant_id text not null,
  grain text not null,
  view text not null,
  first_quarter bigint not null,
  -- Digest of the dimensions, in place of up to 1 KiB of key.
  cell bytea not null,
  skill_id text,
  archetype_id text,
  user_id text,
  llm_platform text,
  llm_model text,
  invocations bigint not null,
  failures bigint not null,
  tokens_in numeric not null,
  tokens_out numeric not null,
  -- Micro-dollars: sums of amounts that alone may be 10^15.
  cost_estimate_micros numeric not null,
  cost_computed_micros numeric not null,
  unpriced bigint not null,
  latency bytea not null,
  primary key (tenant_id, grain, view, first_quarter, cell),
  constraint telemetry_rollups_grain check (grain in ('quarter', 'day'))
);
-- Folding updates the rows of the running quarter every few seconds: with room beside them, on the same page and
-- without touching an index (measured: 95 % of the updates, at 0.6 times the cost).
alter table hub.telemetry_rollups set (fillfactor = 60);
select hub.distribute('hub.telemetry_rollups');
select hub.isolate('hub.telemetry_rollups');
grant select, insert, update, delete on hub.telemetry_rollups to hub_app;
create index telemetry_rollups_of_user on hub.telemetry_rollups (tenant_id, user_id, grain, first_quarter)
  where view = 'all';

-- Days whose rows of the grain 'day' are missing or behind: a reader takes their quarters instead.
create table hub.rollup_open_days (
  tenant_id text not null,
  -- Days since 1970-01-01, in UTC.
  day bigint not null,
  touched_at timestamptz not null,
  primary key (tenant_id, day)
);
select hub.distribute('hub.rollup_open_days');
select hub.isolate('hub.rollup_open_days');
grant select, insert, update, delete on hub.rollup_open_days to hub_app;

-- A tenant's own prices, which go before the catalogue's from effective_from on, until effective_until or the next one
-- of the same platform and model, whichever is first. Without a platform, one holds for the model on every platform that has none of its own.
create table hub.price_overrides (
  tenant_id text not null,
  override_id uuid not null,
  llm_platform text,
  llm_model text not null,
  effective_from timestamptz not null,
  -- Null: until the next one of the same platform and model.
  effective_until timestamptz,
  -- US dollars per million tokens, exact.
  input_usd_per_mtok numeric not null,
  output_usd_per_mtok numeric not null,
  primary key (tenant_id, override_id)
);
select hub.distribute('hub.price_overrides');
select hub.isolate('hub.price_overrides');
grant select, insert, delete on hub.price_overrides to hub_app;

-- What a later rating made of an event. The record keeps what it was frozen with; the numbers follow the last rating.
create table hub.telemetry_ratings (
  tenant_id text not null,
  record_id uuid not null,
  -- Null where the event has no price any more.
  cost_computed_micros bigint,
  price_source text,
  rated_at timestamptz not null,
  primary key (tenant_id, record_id)
);
select hub.distribute('hub.telemetry_ratings');
select hub.isolate('hub.telemetry_ratings');
grant select, insert, update, delete on hub.telemetry_ratings to hub_app;

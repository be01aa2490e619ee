-- How far a re-rating of telemetry has come, written in the transactions that do it: one that was broken off goes on
-- where it was, and its governance event tells of all of it. It names nobody; the event does.
create table hub.rating_runs (
  tenant_id text not null,
  run_id uuid not null,
  -- The last record that was looked at, and the first one that is none of its business.
  position uuid not null,
  until_id uuid not null,
  checked bigint not null,
  changed bigint not null,
  unreadable bigint not null,
  -- Of the checked events, in micro-dollars.
  cost_before_micros numeric not null,
  cost_after_micros numeric not null,
  finished_at timestamptz,
  primary key (tenant_id, run_id)
);
select hub.distribute('hub.rating_runs');
select hub.isolate('hub.rating_runs');
grant select, insert, update on hub.rating_runs to hub_app;

-- Amounts that tenants plan to spend in a period, and the thresholds that were reached.

create table hub.budgets (
  tenant_id text not null,
  budget_id text not null,
  name text not null,
  -- Dimensions of events and their values.
  filter jsonb not null,
  period text not null,
  time_zone text not null,
  amount_micros bigint not null,
  basis text not null,
  -- Percent of the amount, ascending.
  thresholds integer[] not null,
  emails text[] not null,
  webhook_ids text[] not null,
  created_at timestamptz not null,
  created_by text not null,
  updated_at timestamptz not null,
  -- Counts the changes: an evaluation of older settings fires nothing.
  revision bigint not null,
  primary key (tenant_id, budget_id)
);
select hub.distribute('hub.budgets');
select hub.isolate('hub.budgets');
grant select, insert, update, delete on hub.budgets to hub_app;
create index budgets_by_time on hub.budgets (tenant_id, created_at, budget_id);
-- Without statistics: they would keep what is erased.
alter table hub.budgets alter column filter set statistics 0, alter column emails set statistics 0;

-- A row for each threshold that was reported, so that it is reported once a period.
create table hub.budget_firings (
  tenant_id text not null,
  budget_id text not null,
  period text not null,
  -- The quarter of an hour, counted since 1970, with which the period begins.
  first_quarter bigint not null,
  threshold bigint not null,
  spent_micros numeric not null,
  fired_at timestamptz not null,
  primary key (tenant_id, budget_id, period, first_quarter, threshold)
);
select hub.distribute('hub.budget_firings');
select hub.isolate('hub.budget_firings');
grant select, insert, delete on hub.budget_firings to hub_app;

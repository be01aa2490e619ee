-- The end of each period of a budget is evaluated once, and mails about budgets have a limit per day.

-- Time of the last evaluation that followed the end of a period and the hour for late events. Null if there was none.
alter table hub.budgets add column closed_at timestamptz;

-- Mails about budgets that were requested on the last day with any, counted for the tenant: a budget that is removed
-- and created again gives no further mails.
create table hub.budget_mail_counts (
  tenant_id text not null,
  -- The day in UTC.
  day date not null,
  mails bigint not null,
  primary key (tenant_id)
);
select hub.distribute('hub.budget_mail_counts');
select hub.isolate('hub.budget_mail_counts');
grant select, insert, update on hub.budget_mail_counts to hub_app;

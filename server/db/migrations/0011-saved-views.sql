-- States of pages of the web UI that people have saved.

create table hub.saved_views (
  tenant_id text not null,
  view_id text not null,
  -- The subject of the owner's tokens.
  owner text not null,
  page text not null,
  name text not null,
  -- What the list is ordered by: the lower-case form.
  name_key text not null,
  -- Of the page's address, without the question mark.
  query text not null,
  -- Users that the query names: so that it is found when they are erased.
  user_ids text[] not null,
  shared boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, view_id)
);
select hub.distribute('hub.saved_views');
select hub.isolate('hub.saved_views');
grant select, insert, update, delete on hub.saved_views to hub_app;
create unique index saved_views_of_owner on hub.saved_views (tenant_id, owner, page, name);
create index saved_views_shared on hub.saved_views (tenant_id, view_id) where shared;
-- Without statistics: they would keep what is erased.
alter table hub.saved_views alter column name set statistics 0, alter column name_key set statistics 0,
  alter column query set statistics 0, alter column user_ids set statistics 0;

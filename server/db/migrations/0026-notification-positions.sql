-- How far each person has read the notifications of the web UI: one position, which only moves forward.

create table hub.notification_positions (
  tenant_id text not null,
  -- The subject of the reader's tokens.
  reader text not null,
  -- The newest governance event that is read.
  read_through uuid not null,
  read_at timestamptz not null,
  primary key (tenant_id, reader)
);
select hub.distribute('hub.notification_positions');
select hub.isolate('hub.notification_positions');
grant select, insert, update on hub.notification_positions to hub_app;

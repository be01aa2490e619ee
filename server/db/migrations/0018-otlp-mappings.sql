-- How a tenant's spans and log records of OpenTelemetry become telemetry events, in addition to the fixed mapping.

create table hub.otlp_mappings (
  tenant_id text not null,
  mapping jsonb not null,
  updated_at timestamptz not null,
  primary key (tenant_id)
);
select hub.distribute('hub.otlp_mappings');
select hub.isolate('hub.otlp_mappings');
grant select, insert, update on hub.otlp_mappings to hub_app;
-- Without statistics: conditions may name people.
alter table hub.otlp_mappings alter column mapping set statistics 0;

-- The quotas of exports that an operator sets for one tenant. Null is the default of the deployment.

alter table hub.tenant_settings
  add column exports_per_day integer,
  add column export_mb_kept integer;

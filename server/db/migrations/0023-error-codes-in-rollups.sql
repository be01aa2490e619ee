-- The error code of failed events, as a dimension of the views 'all' and 'no_user' (ADR 0080). Null for events that
-- succeeded. A row of these views from before has failures and no error code: its failures are not divided by code.
alter table hub.telemetry_rollups add column error_code text;

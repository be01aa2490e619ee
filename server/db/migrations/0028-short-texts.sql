-- Whether ingest stores the texts of telemetry events in short form (ADR 0107). Processes of an earlier version cannot
-- read it. So it begins at once if none is connected, or there is no tenant yet; otherwise processes are upgraded one by one, and it begins when
-- the operator runs `hub db shorten-texts`. A function instead of a table: a restored database has its own answer.

do $$
declare
  others boolean;
begin
  select exists (select from hub.tenants)
    and exists (select from pg_stat_activity where datname = current_database() and usename like 'hub\_app\_%')
    into others;
  execute format('create function hub.short_texts() returns boolean language sql stable as %L', 'select ' || (not others)::text);
end
$$;
revoke execute on function hub.short_texts() from public;
grant execute on function hub.short_texts() to hub_app;

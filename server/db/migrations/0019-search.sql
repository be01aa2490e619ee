-- Full-text search of records (ADR 0073).

alter table hub.tenant_settings add column search_language text not null default 'simple';

-- The words of each record but telemetry events, without the text. In Mode B only those of members that are in clear.
create table hub.search_documents (
  tenant_id text not null,
  record_id uuid not null,
  record_type text not null,
  words tsvector not null,
  primary key (tenant_id, record_id)
) partition by list (tenant_id);
-- PostgreSQL searches no index for text where row-level security applies, because the operator is not leakproof. So the
-- rows are in a partition without a policy, which no role but the owner may touch. The functions below read it, and
-- compare the tenant with that of the transaction.
create table hub.search_documents_all partition of hub.search_documents default;
select hub.distribute('hub.search_documents');
select hub.isolate('hub.search_documents');
grant select, insert, update on hub.search_documents to hub_app;
create index search_documents_words on hub.search_documents_all using gin (words)
  with (gin_pending_list_limit = 1024);
-- Statistics of this column would keep words of erased records.
alter table hub.search_documents alter column words set statistics 0;
alter table hub.search_documents_all alter column words set statistics 0;

-- The progress of indexing the records of a tenant that were stored before the table, or with another language.
create table hub.search_progress (
  tenant_id text not null,
  language text not null,
  record_type text not null,
  after_id uuid not null,
  finished_at timestamptz,
  primary key (tenant_id)
);
select hub.distribute('hub.search_progress');
select hub.isolate('hub.search_progress');
grant select, insert, update on hub.search_progress to hub_app;

-- Returns the newest documents that match, at most `most`, each with its score. Each document contains the word '@' plus
-- its tenant, and outputs '#' plus their skill, so the index combines the conditions. A whole word of several tenants
-- costs little more for it, but the beginning of a word reads the entries of all tenants. With `units`, the score is the
-- share of the units, by weight, that the document contains; otherwise the rank.
create function hub.search_documents_matching(
  tenant text, wanted tsquery, units tsquery[], weights real[], types text[], skill text, from_id uuid, to_id uuid,
  most integer
) returns table (record_id uuid, score real)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  marks tsquery := ('''@' || tenant || '''')::tsquery;
begin
  if tenant is distinct from current_setting('hub.tenant_id', true) then
    raise exception 'the documents belong to another tenant than the transaction' using errcode = 'insufficient_privilege';
  end if;
  if skill is not null then
    marks := marks && array_to_tsvector(array['#' || skill])::text::tsquery;
  end if;
  return query
    select d.record_id, coalesce(
      (select (sum(case when d.words @@ u.unit
          then u.weight * (1 + ts_rank('{0.05, 0.2, 0.5, 1}', d.words, u.unit)) else 0 end) / sum(u.weight))::real
        from unnest(units, weights) as u (unit, weight)),
      ts_rank('{0.05, 0.2, 0.5, 1}', d.words, wanted, 1))
    from (
      select s.record_id, s.words from hub.search_documents_all s
      where s.tenant_id = tenant and s.words @@ (wanted && marks)
        and s.record_type = any (types)
        and s.record_id >= from_id and s.record_id < to_id
      order by s.record_id desc limit most
    ) d;
end
$$;

-- Returns for each query the number of documents of the types that match, at most `most`.
create function hub.search_frequencies(tenant text, units tsquery[], types text[], most integer) returns integer[]
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
begin
  if tenant is distinct from current_setting('hub.tenant_id', true) then
    raise exception 'the documents belong to another tenant than the transaction' using errcode = 'insufficient_privilege';
  end if;
  return (
    select array_agg((
        select count(*)::integer from (
          select from hub.search_documents_all s
          where s.tenant_id = tenant and s.words @@ (u.unit && ('''@' || tenant || '''')::tsquery)
            and s.record_type = any (types)
          limit most) m
      ) order by u.place)
    from unnest(units) with ordinality as u (unit, place));
end
$$;
revoke all on function
  hub.search_documents_matching(text, tsquery, tsquery[], real[], text[], text, uuid, uuid, integer),
  hub.search_frequencies(text, tsquery[], text[], integer) from public;
grant execute on function
  hub.search_documents_matching(text, tsquery, tsquery[], real[], text[], text, uuid, uuid, integer),
  hub.search_frequencies(text, tsquery[], text[], integer) to hub_app;

-- As before, and with the words of the records.
create or replace function hub.erase_records(tenant text, ids uuid[]) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  erased integer;
begin
  if tenant is distinct from current_setting('hub.tenant_id', true) then
    raise exception 'the records belong to another tenant than the transaction' using errcode = 'insufficient_privilege';
  end if;
  if exists (
    select from unnest(ids) as wanted (id)
    where not exists (select from hub.tombstones t where t.tenant_id = tenant and t.record_id = wanted.id)
  ) then
    raise exception 'a record without a tombstone cannot be erased' using errcode = 'insufficient_privilege';
  end if;
  delete from hub.records r where r.tenant_id = tenant and r.record_id = any (ids);
  get diagnostics erased = row_count;
  delete from hub.record_links l where l.tenant_id = tenant and l.from_id = any (ids);
  delete from hub.record_states s where s.tenant_id = tenant and s.record_id = any (ids);
  delete from hub.search_documents d where d.tenant_id = tenant and d.record_id = any (ids);
  return erased;
end
$$;

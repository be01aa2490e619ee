import type { TenantTx } from '../../db/database.ts'
import { lookUpState } from '../../records/record-sql-store.ts'

/** A query as PostgreSQL understands it. */
export interface ParsedQuery {
  language: string
  /** Text of a tsquery; empty if the language ignores every word. */
  wanted: string
  /** Whether the index can be searched; false if a part of `or` only excludes words. */
  isSearchable: boolean
}

/** Parses a query in the language of the tenant. */
export async function parseQuery(tx: TenantTx, strict: string): Promise<ParsedQuery> {
  const { rows } = await tx.client.query<{ language: string; wanted: string; tree: string }>(
    `select p.language, p.wanted::text as wanted, querytree(p.wanted) as tree
     from (
       select l.language, websearch_to_tsquery(l.language::regconfig, $2) as wanted
       from (select coalesce((select search_language from hub.tenant_settings where tenant_id = $1), 'simple') as language) l
     ) p`,
    [tx.tenantId, strict],
  )
  const { language, wanted, tree } = rows[0]!
  return { language, wanted, isSearchable: tree !== 'T' }
}

/**
 * Returns the tsquery of each phrase as text, extended by the words that begin with `prefix`. It is empty if the
 * language ignores every word.
 */
export async function parseUnits(
  tx: TenantTx,
  language: string,
  units: readonly { phrase: string; prefix: string | undefined }[],
): Promise<string[]> {
  const { rows } = await tx.client.query<{ unit: string }>(
    `select (phraseto_tsquery($1::regconfig, u.phrase)
        || case when u.prefix = '' then '' else to_tsquery('simple', u.prefix || ':*') end)::text as unit
     from unnest($2::text[], $3::text[]) with ordinality as u (phrase, prefix, place) order by u.place`,
    [language, units.map(({ phrase }) => phrase), units.map(({ prefix = '' }) => prefix)],
  )
  return rows.map(({ unit }) => unit)
}

/**
 * Returns the number of the tenant's documents of the types, and of those that match each tsquery; counts at most
 * `most`.
 */
export async function countDocuments(
  tx: TenantTx,
  units: readonly string[],
  recordTypes: readonly string[],
  most: number,
): Promise<{ all: number; counts: number[] }> {
  const { rows } = await tx.client.query<{ counts: number[] }>(
    'select hub.search_frequencies($1, $2::tsquery[], $3::text[], $4) as counts',
    [tx.tenantId, [`'@${tx.tenantId}'`, ...units], recordTypes, most],
  )
  const [all, ...counts] = rows[0]!.counts
  return { all: all!, counts }
}

export interface MatchCriteria {
  /** Text of a tsquery. */
  wanted: string
  /** Scores by the share of these units; absent: by rank. */
  units?: { queries: readonly string[]; weights: readonly number[] } | undefined
  /** A record that matches by its id. */
  recordId: string | undefined
  recordTypes: readonly string[]
  skillId: string | undefined
  fromId: string
  beforeId: string
  includePurged: boolean
  /** Maximum number of matches that are ranked: the newest. */
  ranked: number
  now: string
}

export interface Match {
  record_id: string
  /** A `real` in its shortest form. */
  score: string
  bytes: number
}

export interface Matches {
  matches: Match[]
  /** Whether older documents match, too, and were not ranked. */
  isTruncated: boolean
}

/** Returns matches by score, then newest first. */
export async function findMatches(
  tx: TenantTx,
  criteria: MatchCriteria,
  page: { after: Pick<Match, 'record_id' | 'score'> | undefined; count: number },
): Promise<Matches> {
  const { wanted, units, recordId, recordTypes, skillId, fromId, beforeId, includePurged, ranked, now } = criteria
  const values: unknown[] = [tx.tenantId, wanted, units?.queries ?? null, units?.weights ?? null]
  values.push(recordTypes, fromId, beforeId, ranked, recordId ?? null, now, page.count, skillId ?? null)
  const parameter = (value: unknown) => `$${values.push(value)}`
  const after = page.after
    ? `where (f.score, f.record_id) < (${parameter(page.after.score)}::real, ${parameter(page.after.record_id)}::uuid)`
    : ''
  const conditions = [
    '(s.hard_delete_after is null or s.hard_delete_after > $10::timestamptz)',
    'r.record_type = any ($5::text[])',
    ...(includePurged ? [] : ['s.purged_at is null']),
    ...(skillId === undefined ? [] : ['r.skill_id = $12']),
  ]
  // One match more than are ranked shows that there are more. It comes last, because the function returns the newest first.
  const { rows } = await tx.client.query<{ is_truncated: boolean } & { [Column in keyof Match]: Match[Column] | null }>(
    `with found as materialized (
       select record_id, score, place from hub.search_documents_matching(
         $1, $2::tsquery, $3::tsquery[], $4::real[], $5::text[], $12::text, $6::uuid, $7::uuid, $8 + 1)
         with ordinality as d (record_id, score, place)
     )
     select c.is_truncated, p.record_id, p.score::text as score, p.bytes
     from (select count(*) > $8 as is_truncated from found) c
     left join (
       select m.record_id, m.score, r.bytes
       from (
         select f.record_id, f.score from (
           select record_id, score from found where place <= $8
           union all select $9::uuid, 10::real where $9::uuid >= $6::uuid and $9::uuid < $7::uuid
         ) f ${after}
         order by f.score desc, f.record_id desc offset 0
       ) m
       cross join lateral (
         select record_id, record_type, skill_id, octet_length(canonical) as bytes
         from hub.records where tenant_id = $1 and record_id = m.record_id offset 0
       ) r ${lookUpState}
       where ${conditions.join(' and ')}
       order by m.score desc, m.record_id desc limit $11
     ) p on true
     order by p.score desc, p.record_id desc`,
    values,
  )
  return {
    matches: rows.filter((row): row is typeof row & Match => row.record_id !== null),
    isTruncated: rows[0]!.is_truncated,
  }
}

/** Which of the newest documents {@link findByParts} returns. */
export interface PartCriteria {
  /** Patterns of LIKE, each of a word of the title. None: any title. */
  patterns: readonly string[]
  recordTypes: readonly string[]
  /** The first and the last id. */
  ids: { from: string; to: string }
  /** Maximum number of documents that are read: the newest. */
  read: number
  now: string
}

/** Returns the newest records, purged ones excepted, whose titles have a word for each pattern. */
export async function findByParts(tx: TenantTx, criteria: PartCriteria, count: number): Promise<string[]> {
  const { patterns, recordTypes, ids, read, now } = criteria
  const { rows } = await tx.client.query<{ record_id: string }>(
    `select r.record_id
     from (
       select record_id, record_type, words from hub.search_documents
       where tenant_id = $1 and record_id between $2::uuid and $3::uuid
       order by record_id desc limit $4
     ) r ${lookUpState}
     where r.record_type = any ($5::text[]) and s.purged_at is null
       and (s.hard_delete_after is null or s.hard_delete_after > $6::timestamptz)
       and not exists (
         select from unnest($7::text[]) as p (pattern)
         where not exists (select from unnest(ts_filter(r.words, '{a}')) as w where w.lexeme like p.pattern))
     order by r.record_id desc limit $8`,
    [tx.tenantId, ids.from, ids.to, read, recordTypes, now, patterns, count],
  )
  return rows.map((row) => row.record_id)
}

/** Returns the words that match a tsquery in the language. */
export async function findMatchingWords(
  tx: TenantTx,
  language: string,
  words: readonly string[],
  query: string,
): Promise<string[]> {
  const { rows } = await tx.client.query<{ word: string }>(
    'select w.word from unnest($1::text[]) as w (word) where to_tsvector($2::regconfig, w.word) @@ $3::tsquery',
    [words, language, query],
  )
  return rows.map(({ word }) => word)
}

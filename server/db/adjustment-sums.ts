import type pg from 'pg'
import type { ProofRules, RowProofs } from './row-proofs.ts'

/**
 * The additions to a tenant's rollups besides its records: the latest ratings of events, and the sums of erased events.
 * Each set of rows is represented by the sum of the keyed hashes of its rows, modulo 2^128. So a row can be added and
 * removed without reading the others, and a row that is missing, added or edited changes the sum.
 */
export interface AdjustmentSums {
  ratings: bigint
  erased: bigint
}

export type AdjustmentKind = keyof AdjustmentSums

/** A row of `hub.adjustment_proofs`. The database cannot create one: its proof is a MAC. */
export interface AdjustmentFields {
  ratings: string
  erased: string
  event_id: string | null
}

export const adjustmentRows: ProofRules<AdjustmentFields> = {
  table: 'hub.adjustment_proofs',
  fields: (row) => [row.ratings, row.erased, row.event_id],
  subject: (_row, tenantId) => `tenant:${tenantId}`,
}

/** SQL of the hashed text of a row of `hub.telemetry_ratings`; {@link ratingText} is the same. */
export const ratingSql = `record_id || ' ' || coalesce(cost_computed_micros::text, '') || ' ' || coalesce(price_source, '')`

export function ratingText(recordId: string, costMicros: number | null, source: string | null): string {
  return `${recordId} ${costMicros ?? ''} ${source ?? ''}`
}

const erasedTextSql = (errorCode: string) => `encode(sha256(convert_to(json_build_array(first_quarter,
  encode(cell, 'hex'), skill_id, archetype_id, user_id, llm_platform, llm_model, invocations, failures, tokens_in,
  tokens_out, cost_estimate_micros, cost_computed_micros, unpriced, encode(latency, 'hex'))::text
  || coalesce(' ' || ${errorCode}, ''), 'UTF8')), 'hex')`

/** SQL of the hashed text of a row of the grain `erased`. */
export const erasedSql = erasedTextSql('error_code')

/** SQL of the same text, of a table that does not have the column of migration 0023 yet. */
export const erasedSqlBeforeErrorCodes = erasedTextSql('null::text')

/** Returns the sum modulo 2^128. */
export const added = (sum: bigint, other: bigint): bigint => BigInt.asUintN(128, sum + other)

export const sumAsText = (sum: bigint): string => sum.toString(16)

/**
 * Parses a sum.
 *
 * @throws SyntaxError for a text that is no sum
 */
export const sumOfText = (text: string): bigint => BigInt(`0x${text}`)

/** Returns the sum of the keyed hashes of texts, modulo 2^128. */
export function sumOf(proofs: RowProofs, tenantId: string, kind: AdjustmentKind, texts: Iterable<string>): bigint {
  let sum = 0n
  for (const text of texts) sum += proofs.keyedHash(`${tenantId} ${kind} ${text}`)
  return BigInt.asUintN(128, sum)
}

/** A position in the order of the rows of a kind. */
type Place = readonly [string, Buffer?]

export interface AdjustmentPage {
  texts: string[]
  /** The position of the next page; undefined at the end. */
  next: Place | undefined
}

const first: Record<AdjustmentKind, Place> = {
  ratings: ['00000000-0000-0000-0000-000000000000'],
  erased: [String(-(2n ** 63n)), Buffer.alloc(0)],
}

const pageSql = (erasedText: string): Record<AdjustmentKind, string> => ({
  ratings: `select ${ratingSql} as text, record_id::text as place, null::bytea as cell from hub.telemetry_ratings
    where tenant_id = $1 and record_id > $3 order by record_id limit $2`,
  erased: `select ${erasedText} as text, first_quarter::text as place, cell from hub.telemetry_rollups
    where tenant_id = $1 and grain = 'erased' and view = 'all' and (first_quarter, cell) > ($3, $4)
    order by first_quarter, cell limit $2`,
})

/** Reads the texts of the next rows of a kind. */
export async function adjustmentPage(
  client: Pick<pg.ClientBase, 'query'>,
  tenantId: string,
  kind: AdjustmentKind,
  after: Place = first[kind],
  limit = 1_000,
  erasedText = erasedSql,
): Promise<AdjustmentPage> {
  const { rows } = await client.query<{ text: string; place: string; cell: Buffer | null }>(pageSql(erasedText)[kind], [
    tenantId,
    limit,
    ...after,
  ])
  const last = rows.length === limit ? rows.at(-1) : undefined
  const next: Place | undefined = last && (last.cell === null ? [last.place] : [last.place, last.cell])
  return { texts: rows.map((row) => row.text), next }
}

/**
 * Adds up all stored rows of a tenant.
 *
 * @param erasedText - SQL of the hashed text of a row of erased events
 */
export async function storedSums(
  client: Pick<pg.ClientBase, 'query'>,
  proofs: RowProofs,
  tenantId: string,
  erasedText = erasedSql,
): Promise<AdjustmentSums & { rows: Record<AdjustmentKind, number> }> {
  const sums = { ratings: 0n, erased: 0n, rows: { ratings: 0, erased: 0 } }
  for (const kind of ['ratings', 'erased'] as const) {
    for (let page: AdjustmentPage | undefined; page === undefined || page.next !== undefined; ) {
      page = await adjustmentPage(client, tenantId, kind, page?.next, 1_000, erasedText)
      sums[kind] = added(sums[kind], sumOf(proofs, tenantId, kind, page.texts))
      sums.rows[kind] += page.texts.length
    }
  }
  return sums
}

/** Reads the newest event about a rating or an erasure, except some. */
export async function newestAdjustmentEvent(
  client: Pick<pg.ClientBase, 'query'>,
  tenantId: string,
  except: readonly string[] = [],
): Promise<string | null> {
  const newest = (kind: string) => `(select record_id from hub.records where tenant_id = $1
    and event_kind = '${kind}' and record_id <> all ($2::uuid[]) order by record_id desc limit 1)`
  const { rows } = await client.query<{ newest: string | null }>(
    `select greatest(${newest('telemetry.rerated')}, ${newest('hub.record_hard_deleted')})::text as newest`,
    [tenantId, except],
  )
  return rows[0]?.newest ?? null
}

/** Stores sums with their proof. */
export async function saveSums(
  client: Pick<pg.ClientBase, 'query'>,
  proofs: RowProofs,
  tenantId: string,
  { ratings, erased }: AdjustmentSums,
  eventId: string | null,
): Promise<void> {
  const row = { ratings: sumAsText(ratings), erased: sumAsText(erased), event_id: eventId }
  await client.query(
    `insert into hub.adjustment_proofs (tenant_id, ratings, erased, event_id, proof) values ($1, $2, $3, $4, $5)
     on conflict (tenant_id) do update set ratings = excluded.ratings, erased = excluded.erased,
       event_id = excluded.event_id, proof = excluded.proof`,
    [tenantId, row.ratings, row.erased, row.event_id, proofs.of(adjustmentRows, tenantId, row)],
  )
}

import type { TenantTx } from '../../db/database.ts'
import type { UncoveredRange, UncoveredRow } from './log-types.ts'

const lastOfPage = `
  select max(record_id::text) as last_id, count(*)::integer as records from (
    select record_id from hub.records
    where tenant_id = $1 and ($2::uuid is null or record_id > $2) order by record_id limit $3) page`

const isNotInLog = `
  left join lateral (
    select first_id, last_id from hub.log_entries
    where tenant_id = $1 and seal_id = p.seal_id and log_index >= 0 offset 0) e on true
  where (e.first_id is null or p.record_id not between e.first_id and e.last_id)`

const rowsOfPage = (table: string) =>
  `(select record_id, seal_id from ${table}
    where tenant_id = $1 and ($2::uuid is null or record_id > $2) and record_id <= $3) p ${isNotInLog}`

/**
 * Returns the next records in id order, and those of them, and of the tombstones between them, that no seal in the log
 * or waiting for it covers. Requires a transaction of `inIndexOrder`.
 *
 * @param afterId null begins with the first record
 */
export async function findUncovered(tx: TenantTx, afterId: string | null, limit: number): Promise<UncoveredRange> {
  const page = await tx.client.query<{ last_id: string | null; records: number }>(lastOfPage, [
    tx.tenantId,
    afterId,
    limit,
  ])
  const { last_id: lastId, records } = page.rows[0]!
  const endId = records < limit ? maxId : lastId!
  const { rows } = await tx.client.query<UncoveredRow>(
    `select p.record_id, p.seal_id, false as is_tombstone from ${rowsOfPage('hub.records')}
     union all
     select p.record_id, p.seal_id, true from ${rowsOfPage('hub.tombstones')}`,
    [tx.tenantId, afterId, endId],
  )
  const arriving = await findArriving(tx, new Set(rows.map((row) => row.seal_id)))
  const uncovered = rows.filter((row) => !arriving.has(row.seal_id))
  return { lastId: records < limit ? undefined : lastId!, records, uncovered }
}

const maxId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/**
 * Returns the seals that wait for integration. No index finds a waiting seal, so one scan covers all of them: right
 * after an upgrade these can be all seals.
 */
async function findArriving(tx: TenantTx, sealIds: ReadonlySet<string>): Promise<Set<string>> {
  if (sealIds.size === 0) return new Set()
  const { rows } = await tx.client.query<{ seal_id: string }>(
    `select w.seal_id from unnest($2::uuid[]) as w (seal_id)
     where w.seal_id in (select unnest(a.seal_ids) from hub.seal_arrivals a where a.tenant_id = $1)`,
    [tx.tenantId, [...sealIds]],
  )
  return new Set(rows.map((row) => row.seal_id))
}

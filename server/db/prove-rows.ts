import type pg from 'pg'
import { erasedSql, newestAdjustmentEvent, saveSums, storedSums } from './adjustment-sums.ts'
import { allProvenRows, type ProvenRows } from './proven-rows.ts'
import type { RowProofs } from './row-proofs.ts'

const rowsAtOnce = 5_000

interface NamedRow {
  tenant_id: string
  key: string
}

/** Runs {@link proveEveryRow} as the owner of the tables, to whom forced row-level security would apply. */
export async function proveExistingRows(owner: pg.ClientBase, proofs: RowProofs): Promise<Record<string, number>> {
  const ofTenants = allProvenRows.filter(({ tenantColumn }) => tenantColumn === undefined)
  const tables = ['hub.service_account_secrets', ...ofTenants.map(({ table }) => table)]
  for (const table of tables) await owner.query(`alter table ${table} no force row level security`)
  const counts = await proveEveryRow(owner, proofs)
  for (const table of tables) await owner.query(`alter table ${table} force row level security`)
  return counts
}

/**
 * Proves every stored row of every tenant, in the transaction of the caller. The caller thereby trusts the contents of
 * the database, and that nobody else writes to the tables. The migration that adds the proofs does so, once.
 *
 * @returns the number of rows proven per table, for tables that had any
 */
export async function proveEveryRow(
  owner: pg.ClientBase,
  proofs: RowProofs,
  tables = allProvenRows,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const rows of tables) {
    const count = await proveTable(owner, proofs, rows)
    if (count > 0) counts[rows.table] = count
  }
  return counts
}

async function proveTable(owner: pg.ClientBase, proofs: RowProofs, rows: ProvenRows<unknown>): Promise<number> {
  const { table, columns, key, where = 'true', tenantColumn = 'tenant_id' } = rows
  for (let [count, after] = [0, { tenant_id: '', key: '' }]; ; ) {
    const found = await owner.query<NamedRow>(
      `select ${columns('t.tenant_id')}, t.${tenantColumn} as tenant_id, ${key} as key from ${table} t
       where (t.${tenantColumn}, ${key}) > ($1, $2) and ${where} order by t.${tenantColumn}, ${key} limit $3`,
      [after.tenant_id, after.key, rowsAtOnce],
    )
    const last = found.rows.at(-1)
    if (last === undefined) return count
    await owner.query(
      `update ${table} t set proof = p.proof from unnest($1::text[], $2::text[], $3::bytea[]) as p (tenant_id, key, proof)
       where t.${tenantColumn} = p.tenant_id and ${key} = p.key`,
      [
        found.rows.map((row) => row.tenant_id),
        found.rows.map((row) => row.key),
        found.rows.map((row) => proofs.of(rows, row.tenant_id, row)),
      ],
    )
    count += found.rows.length
    after = { tenant_id: last.tenant_id, key: last.key }
  }
}

/**
 * Proves the stored ratings and sums of erased events of every tenant, in the transaction of the caller. The migration
 * that adds the proofs does so, once, and cannot check these rows.
 *
 * @param erasedText - SQL of the hashed text of a row of erased events
 * @returns the number of rows of each table that were proven without a check
 */
export async function proveExistingAdjustments(
  owner: pg.ClientBase,
  proofs: RowProofs,
  erasedText = erasedSql,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  const { rows: tenants } = await owner.query<{ slug: string }>('select slug from hub.tenants order by slug')
  for (const { slug } of tenants) {
    // Row-level security also applies to the owner.
    await owner.query(`select set_config('hub.tenant_id', $1, true)`, [slug])
    const sums = await storedSums(owner, proofs, slug, erasedText)
    const eventId = await newestAdjustmentEvent(owner, slug)
    const { ratings, erased } = sums.rows
    if (ratings + erased === 0 && eventId === null) continue
    await saveSums(owner, proofs, slug, sums, eventId)
    if (ratings > 0) counts['hub.telemetry_ratings'] = (counts['hub.telemetry_ratings'] ?? 0) + ratings
    if (erased > 0) counts['hub.telemetry_rollups'] = (counts['hub.telemetry_rollups'] ?? 0) + erased
  }
  await owner.query(`select set_config('hub.tenant_id', '', true)`)
  return counts
}

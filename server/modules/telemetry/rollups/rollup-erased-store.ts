import type { TenantTx } from '../../../db/database.ts'
import type { Cells } from './rollup-cells.ts'
import {
  addValues,
  cellDigest,
  dimensionColumns,
  metricColumns,
  partsOfRow,
  type QuarterRow,
} from './rollup-rows-store.ts'
import { remarkDays } from './rollup-store.ts'
import { dayOfQuarterHour, type StoredGrain } from './rollup-types.ts'

const rowsPerRead = 1000
/** Maximum number of quarters of one user in one statement. */
const quartersPerUpdate = 500

/** A position in the rows of the grain `erased`. */
export interface ErasedPlace {
  quarter: number
  cell: Buffer
}

export const beforeFirst: ErasedPlace = { quarter: -(2 ** 53), cell: Buffer.alloc(0) }

/**
 * Adds the next rows of the grain `erased` to cells of the view `all`. Returns the last position; undefined at the end.
 */
export async function addErasedCells(tx: TenantTx, all: Cells, after: ErasedPlace): Promise<ErasedPlace | undefined> {
  const { rows } = await tx.client.query<QuarterRow>({
    text: `select first_quarter, cell, ${dimensionColumns}, ${metricColumns}
        from hub.telemetry_rollups
        where tenant_id = $1 and grain = 'erased' and view = 'all' and (first_quarter, cell) > ($2, $3)
        order by first_quarter, cell limit ${rowsPerRead}`,
    values: [tx.tenantId, after.quarter, after.cell],
    rowMode: 'array',
  })
  for (const row of rows) {
    const { dimensions, values } = partsOfRow(row)
    addValues(all.metricsOf('all', row[0], dimensions), values)
  }
  const last = rows.at(-1)
  return rows.length === rowsPerRead && last ? { quarter: last[0], cell: last[1] } : undefined
}

/** The SQL for the digest of `cellDigest` with another user. */
const renamedDigest = `substring(sha256(convert_to(coalesce(skill_id, '') || ' ' || coalesce(archetype_id, '') || ' '
  || $3 || ' ' || coalesce(llm_platform, '') || ' ' || coalesce(llm_model, '') || coalesce(' ' || error_code, ''), 'UTF8')) from 1 for 16)`

/** Renames the user in all its rows, of every grain and view, to an id that no row has yet. */
export async function renameUser(tx: TenantTx, userId: string, other: string): Promise<void> {
  for (const grain of ['quarter', 'day', 'erased'] as const) {
    for (;;) {
      const quarters = await quartersOf(tx, grain, userId)
      if (quarters.length === 0) break
      const ofUser = { skill_id: null, archetype_id: null, llm_platform: null, llm_model: null, error_code: null }
      await tx.client.query(
        `update hub.telemetry_rollups set user_id = $3, cell = $6
         where tenant_id = $1 and grain = $2 and view = 'user' and first_quarter = any ($4::bigint[]) and cell = $5`,
        [
          tx.tenantId,
          grain,
          other,
          quarters,
          cellDigest({ ...ofUser, user_id: userId }),
          cellDigest({ ...ofUser, user_id: other }),
        ],
      )
      await tx.client.query(
        `update hub.telemetry_rollups set user_id = $3, cell = ${renamedDigest}
         where tenant_id = $1 and view = 'all' and user_id = $5 and grain = $2 and first_quarter = any ($4::bigint[])`,
        [tx.tenantId, grain, other, quarters, userId],
      )
      // A compaction of the day may have read a part of its rows with the former digests.
      if (grain === 'quarter') await remarkDays(tx, [...new Set(quarters.map(dayOfQuarterHour))])
    }
  }
}

/** Returns some of the quarters in which the user has rows. */
async function quartersOf(tx: TenantTx, grain: StoredGrain, userId: string): Promise<number[]> {
  const { rows } = await tx.client.query<{ first_quarter: number }>(
    `select distinct first_quarter from hub.telemetry_rollups
     where tenant_id = $1 and view = 'all' and user_id = $2 and grain = $3
     order by first_quarter limit ${quartersPerUpdate}`,
    [tx.tenantId, userId, grain],
  )
  return rows.map((row) => row.first_quarter)
}

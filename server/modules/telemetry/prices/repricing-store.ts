import { ratingSql } from '../../../db/adjustment-sums.ts'
import { ratingLockClass } from '../../../db/advisory-locks.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { ProofRules } from '../../../db/row-proofs.ts'
import type { TenantTables } from '../../../db/schema.ts'
import { lockTenant } from '../../../db/tenant-lock.ts'
import { updateRows } from '../../../db/tenant-rows.ts'

/** The progress of a repricing. */
export type RepricingRun = Omit<TenantTables['hub.rating_runs'], 'tenant_id' | 'proof'>

/** A run's progress goes into its signed event, so the database must not be able to change it. */
const runRows: ProofRules<RepricingRun> = {
  table: 'hub.rating_runs',
  fields: (run) => [
    run.run_id,
    run.position,
    run.until_id,
    run.checked,
    run.changed,
    run.unreadable,
    run.cost_before_micros,
    run.cost_after_micros,
    run.finished_at !== null,
  ],
  subject: (_run, tenantId) => `tenant:${tenantId}`,
}

/** The current cost of an event. */
export interface Rating {
  recordId: string
  /** Undefined if it has no price. */
  price: { costMicros: number; source: string } | undefined
}

/** Waits until no other transaction reprices events of the tenant; held until this one ends. */
export async function lockRepricing(tx: TenantTx): Promise<void> {
  await lockTenant(tx, ratingLockClass)
}

/** Inserts a run; does nothing if it exists. */
export async function insertRun(
  tx: TenantTx,
  run: Pick<RepricingRun, 'run_id' | 'position' | 'until_id'>,
): Promise<void> {
  const nothing = { checked: 0, changed: 0, unreadable: 0, cost_before_micros: '0', cost_after_micros: '0' }
  const row = { ...run, ...nothing, finished_at: null }
  await tx.db
    .insertInto('hub.rating_runs')
    .values({ tenant_id: tx.tenantId, ...row, proof: tx.proofs.of(runRows, tx.tenantId, row) })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'run_id']).doNothing())
    .execute()
}

/**
 * Reads a run. Call it under {@link lockRepricing}, so that two processes do not do the same part. Returns undefined, and
 * reports the row, if the Hub did not write it.
 */
export async function findRun(tx: TenantTx, runId: string): Promise<RepricingRun | undefined> {
  const stored = await tx.db
    .selectFrom('hub.rating_runs')
    .select(['run_id', 'position', 'until_id', 'checked', 'changed', 'unreadable'])
    .select(['cost_before_micros', 'cost_after_micros', 'finished_at', 'proof'])
    .where('tenant_id', '=', tx.tenantId)
    .where('run_id', '=', runId)
    .executeTakeFirstOrThrow()
  const sound = tx.proofs.sound(runRows, tx.tenantId, stored)
  if (sound === undefined) return undefined
  const { proof: _, ...run } = sound
  return run
}

export async function saveRun(tx: TenantTx, row: RepricingRun): Promise<void> {
  const { run_id, ...run } = row
  await updateRows(tx, 'hub.rating_runs', { run_id }, { ...run, proof: tx.proofs.of(runRows, tx.tenantId, row) })
}

/** Stores the latest ratings of these events. */
export async function putRatings(tx: TenantTx, ratings: readonly Rating[], ratedAt: string): Promise<void> {
  await tx.client.query(
    `insert into hub.telemetry_ratings (tenant_id, record_id, cost_computed_micros, price_source, rated_at)
     select $1, rated.*, $5::timestamptz
     from unnest($2::uuid[], $3::bigint[], $4::text[]) as rated (record_id, cost_computed_micros, price_source)
     on conflict (tenant_id, record_id) do update set cost_computed_micros = excluded.cost_computed_micros,
       price_source = excluded.price_source, rated_at = excluded.rated_at`,
    [
      tx.tenantId,
      ratings.map(({ recordId }) => recordId),
      ratings.map(({ price }) => price?.costMicros ?? null),
      ratings.map(({ price }) => price?.source ?? null),
      ratedAt,
    ],
  )
}

/** Returns the latest ratings of those events that were repriced; null without a price. */
export async function findRatings(tx: TenantTx, recordIds: readonly string[]): Promise<Map<string, number | null>> {
  const { rows } = await tx.client.query<[string, number | null]>({
    text: `select record_id, cost_computed_micros from hub.telemetry_ratings
      where tenant_id = $1 and record_id = any ($2::uuid[])`,
    values: [tx.tenantId, recordIds],
    rowMode: 'array',
  })
  return new Map(rows)
}

/** Deletes ratings, and returns the texts that prove them. */
export async function deleteRatings(tx: TenantTx, recordIds: readonly string[]): Promise<string[]> {
  const { rows } = await tx.client.query<{ text: string }>(
    `delete from hub.telemetry_ratings where tenant_id = $1 and record_id = any ($2::uuid[])
     returning ${ratingSql} as text`,
    [tx.tenantId, recordIds],
  )
  return rows.map((row) => row.text)
}

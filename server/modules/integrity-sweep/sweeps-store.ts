import type { TenantTx } from '../../db/database.ts'
import type { TenantTables } from '../../db/schema.ts'
import { updateRows } from '../../db/tenant-rows.ts'

export type Lane = 'all' | 'recent'

export type SweepRow = Omit<TenantTables['hub.sweeps'], 'tenant_id'>

/** The progress of a scan mode. */
export type SweepProgress = Pick<
  SweepRow,
  'log_index' | 'after_id' | 'started_at' | 'finished_at' | 'checked' | 'failed'
>

/** The stored progress of a scan mode. All values are text, because somebody may have edited them; see `readSweep`. */
export type StoredSweep = Record<Exclude<keyof SweepRow, 'after_id' | 'claimed_until' | 'finished_at'>, string> &
  Record<'after_id' | 'claimed_until' | 'finished_at', string | null>

/** Formats times within our range in our text form, and any other time in PostgreSQL's. */
const timeText = (column: string) =>
  `case when ${column} between '0001-01-01Z' and '9999-12-31T23:59:59.999999Z'
     then to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') else ${column}::text end as ${column}`

const storedColumns = `lane, log_index::text, after_id, ${timeText('claimed_until')}, ${timeText('started_at')},
  ${timeText('updated_at')}, ${timeText('finished_at')}, checked::text, failed::text`

/** Returns the progress of the tenant's scan mode; undefined before the first scan. */
export async function findSweep(tx: TenantTx, lane: Lane): Promise<StoredSweep | undefined> {
  const { rows } = await tx.client.query<StoredSweep>(
    `select ${storedColumns} from hub.sweeps where tenant_id = $1 and lane = $2`,
    [tx.tenantId, lane],
  )
  return rows[0]
}

/**
 * Claims a scan mode until a time. Returns the stored progress; undefined while another process holds the claim.
 *
 * @param now a claim that ends before this time has expired
 * @param claimedMax the latest end that a process can set; a later claim is invalid
 */
export async function claimSweep(
  tx: TenantTx,
  lane: Lane,
  { now, until, claimedMax }: { now: string; until: string; claimedMax: string },
): Promise<StoredSweep | undefined> {
  const fresh = { log_index: 0, started_at: now, updated_at: now, checked: 0, failed: 0 }
  await tx.db
    .insertInto('hub.sweeps')
    .values({ tenant_id: tx.tenantId, lane, ...fresh, after_id: null, claimed_until: null, finished_at: null })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'lane']).doNothing())
    .execute()
  const { rows } = await tx.client.query<StoredSweep>(
    `select ${storedColumns} from hub.sweeps
     where tenant_id = $1 and lane = $2
       and (claimed_until is null or claimed_until < $3::timestamptz or claimed_until > $4::timestamptz)
     for update skip locked`,
    [tx.tenantId, lane, now, claimedMax],
  )
  if (rows[0] === undefined) return undefined
  await updateRows(tx, 'hub.sweeps', { lane }, { claimed_until: until })
  return rows[0]
}

/**
 * Stores the progress of a claimed scan mode and releases the claim. Returns false if the claim expired and another
 * process holds it.
 */
export async function releaseSweep(
  tx: TenantTx,
  lane: Lane,
  claimedUntil: string,
  progress: SweepProgress & { updated_at: string },
): Promise<boolean> {
  const saved = await tx.db
    .updateTable('hub.sweeps')
    .set({ ...progress, claimed_until: null })
    .where('tenant_id', '=', tx.tenantId)
    .where('lane', '=', lane)
    .where('claimed_until', '=', claimedUntil)
    .executeTakeFirst()
  return saved.numUpdatedRows === 1n
}

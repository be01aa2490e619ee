import type { TenantTx } from '../../../db/database.ts'
import type { TenantTables } from '../../../db/schema.ts'

export type Lane = 'all' | 'recent'

export type SweepRow = Omit<TenantTables['hub.sweeps'], 'tenant_id'>

/** How far it has come. */
export type SweepProgress = Pick<
  SweepRow,
  'log_index' | 'after_id' | 'started_at' | 'finished_at' | 'checked' | 'failed'
>

/** A lane as it is stored. All is text, for somebody may have edited it: see `readSweep`. */
export type StoredSweep = Record<Exclude<keyof SweepRow, 'after_id' | 'claimed_until' | 'finished_at'>, string> &
  Record<'after_id' | 'claimed_until' | 'finished_at', string | null>

/** Times of our years as our form has them, any other one as PostgreSQL writes it. */
const timeText = (column: string) =>
  `case when ${column} between '0001-01-01Z' and '9999-12-31T23:59:59.999999Z'
     then to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') else ${column}::text end as ${column}`

const storedColumns = `lane, log_index::text, after_id, ${timeText('claimed_until')}, ${timeText('started_at')},
  ${timeText('updated_at')}, ${timeText('finished_at')}, checked::text, failed::text`

/** A lane of the tenant; undefined where it was never begun. */
export async function findSweep(tx: TenantTx, lane: Lane): Promise<StoredSweep | undefined> {
  const { rows } = await tx.client.query<StoredSweep>(
    `select ${storedColumns} from hub.sweeps where tenant_id = $1 and lane = $2`,
    [tx.tenantId, lane],
  )
  return rows[0]
}

/**
 * Claims a lane until a time, and answers what was stored; undefined while another process has it.
 *
 * @param now a claim until then is over
 * @param claimedMax no process claims a lane for longer: such a claim is none
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
  await tx.db
    .updateTable('hub.sweeps')
    .set({ claimed_until: until })
    .where('tenant_id', '=', tx.tenantId)
    .where('lane', '=', lane)
    .execute()
  return rows[0]
}

/** Stores how far a claimed lane has come, and gives it back; false where the claim ran out and another has it. */
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

import type { TenantTx } from '../../../db/database.ts'
import { heldRecordOf } from './hold-check.ts'
import type { HeldRecord } from './holds-types.ts'

/** As late as a timestamp can be: the buffer does not end. */
const never = '9999-12-31T23:59:59.999999Z'

/** A purged record in its recovery buffer. */
export interface BufferedRecord extends HeldRecord {
  purged_at: string
}

const columns = `s.record_id, s.purged_at, r.record_type, r.created_by, r.skill_id, r.archetype_id, r.user_id,
    r.event_kind`

// OFFSET keeps a look-up a look-up.
const lookUpRecord = `
  cross join lateral (
    select record_type, created_by, skill_id, archetype_id, user_id, event_kind
    from hub.records where tenant_id = $1 and record_id = s.record_id offset 0
  ) r`

/** The next purged records whose buffer is not over, in the order of their ids. */
export async function bufferedAfter(
  tx: TenantTx,
  { now, after }: { now: string; after: string | undefined },
  count: number,
): Promise<BufferedRecord[]> {
  const { rows } = await tx.client.query<Omit<BufferedRecord, 'created_at'>>(
    `select ${columns} from hub.record_states s ${lookUpRecord}
     where s.tenant_id = $1 and s.record_id > $2 and s.purged_at is not null and s.hard_delete_after > $3::timestamptz
     order by s.record_id limit $4`,
    [tx.tenantId, after ?? '00000000-0000-0000-0000-000000000000', now, count],
  )
  return rows.map((row) => ({ ...heldRecordOf(row), purged_at: row.purged_at }))
}

/** Those of the records that are purged and whose buffer is not over. */
export async function bufferedAmong(
  tx: TenantTx,
  recordIds: readonly string[],
  now: string,
): Promise<BufferedRecord[]> {
  const { rows } = await tx.client.query<Omit<BufferedRecord, 'created_at'>>(
    `select ${columns} from hub.record_states s ${lookUpRecord}
     where s.tenant_id = $1 and s.record_id = any($2::uuid[]) and s.purged_at is not null
       and s.hard_delete_after > $3::timestamptz
     order by s.record_id`,
    [tx.tenantId, recordIds, now],
  )
  return rows.map((row) => ({ ...heldRecordOf(row), purged_at: row.purged_at }))
}

/** Stops the clock of the buffers that still run. */
export async function freezeBuffers(tx: TenantTx, recordIds: readonly string[], now: string): Promise<void> {
  await tx.client.query(
    `update hub.record_states set hard_delete_after = $4::timestamptz,
       buffer_left_micros = (extract(epoch from hard_delete_after - $3::timestamptz) * 1000000)::bigint
     where tenant_id = $1 and record_id = any($2::uuid[]) and purged_at is not null
       and buffer_left_micros is null and hard_delete_after > $3::timestamptz`,
    [tx.tenantId, recordIds, now, never],
  )
}

/** Lets the clock of the buffers that are frozen run on. */
export async function resumeBuffers(tx: TenantTx, recordIds: readonly string[], now: string): Promise<void> {
  await tx.client.query(
    `update hub.record_states set hard_delete_after = $3::timestamptz + buffer_left_micros * interval '1 microsecond',
       buffer_left_micros = null
     where tenant_id = $1 and record_id = any($2::uuid[]) and buffer_left_micros is not null`,
    [tx.tenantId, recordIds, now],
  )
}

import type { RecordType } from '../../../contract/literals.ts'
import { sealSizeMax } from '../../../provenance/index.ts'
import type { TenantTx } from '../../db/database.ts'
import { lookUpState } from '../../records/record-sql-store.ts'
import { textBytes } from '../../records/stored-text.ts'
import type { LogEntry } from '../log/log-types.ts'
import type { LogEntryPlace } from './log-entry-records-types.ts'

/**
 * Selects the records of seals. Record ids of one seal are adjacent, so each seal is one short range of the primary
 * key.
 */
const placesOfSeals = `
  select e.place, p.record_id, p.leaf_index, p.erased, p.bytes
  from unnest($2::uuid[], $3::uuid[], $4::uuid[]) with ordinality as e (seal_id, first_id, last_id, place)
  cross join lateral (
    select r.record_id, r.leaf_index, ${textBytes('r')} as bytes,
      coalesce(s.hard_delete_after <= $5::timestamptz, false) as erased
    from (
      select record_id, leaf_index, canonical, record_type from hub.records
      where tenant_id = $1 and record_id between e.first_id and e.last_id and seal_id = e.seal_id offset 0
    ) r ${lookUpState}
    where $6::text[] is null or r.record_type = any ($6)
    union all
    select record_id, leaf_index, 0, true from hub.tombstones
    where tenant_id = $1 and seal_id = e.seal_id and ($6::text[] is null or record_type = any ($6))
  ) p
  where p.leaf_index between 0 and ${sealSizeMax - 1}
  order by e.place, p.leaf_index, p.record_id`

/** @param recordTypes the types to return; all if undefined */
export async function findPlacesOfEntries(
  tx: TenantTx,
  entries: readonly LogEntry[],
  { recordTypes, now }: { recordTypes: readonly RecordType[] | undefined; now: string },
): Promise<LogEntryPlace[]> {
  if (entries.length === 0) return []
  const { rows } = await tx.client.query<{
    place: number
    record_id: string
    leaf_index: number
    erased: boolean
    bytes: number
  }>({
    name: 'hub_places_of_seals',
    text: placesOfSeals,
    values: [
      tx.tenantId,
      entries.map((entry) => entry.sealId),
      entries.map((entry) => entry.firstId),
      entries.map((entry) => entry.lastId),
      now,
      recordTypes ? [...recordTypes] : null,
    ],
  })
  return rows.map((row) => {
    const { logIndex, sealId } = entries[row.place - 1]!
    return {
      logIndex,
      sealId,
      recordId: row.record_id,
      leafIndex: row.leaf_index,
      erased: row.erased,
      bytes: row.bytes,
    }
  })
}

/**
 * Returns the seal and the leaf of a record, also after its erasure.
 *
 * @param recordTypes the types to return; all if undefined
 */
export async function findSealPlace(
  tx: TenantTx,
  recordId: string,
  recordTypes: readonly RecordType[] | undefined,
): Promise<{ sealId: string; leafIndex: number } | undefined> {
  const { rows } = await tx.client.query<{ sealId: string; leafIndex: number }>(
    `select seal_id as "sealId", leaf_index as "leafIndex" from hub.records
     where tenant_id = $1 and record_id = $2 and ($3::text[] is null or record_type = any ($3))
     union all
     select seal_id, leaf_index from hub.tombstones
     where tenant_id = $1 and record_id = $2 and ($3::text[] is null or record_type = any ($3))
     limit 1`,
    [tx.tenantId, recordId, recordTypes ? [...recordTypes] : null],
  )
  return rows[0]
}

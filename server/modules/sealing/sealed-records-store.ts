import type { TenantTx } from '../../db/database.ts'
import { decryptRows } from '../../db/record-encryption.ts'
import type { SealedRow } from '../../records/record-rows.ts'
import { lookUpState } from '../../records/record-sql-store.ts'
import { findSeals } from '../../records/record-store.ts'
import type { LogEntry } from '../log/log-types.ts'
import type { RecordsOfEntries } from './sealed-records-types.ts'

/**
 * Selects the records of seals. Record ids of one seal are adjacent, so each seal is one short range of the primary
 * key.
 */
const recordsOfSeals = `
  select r.record_id, encode(r.provenance_hash, 'hex') as provenance_hash, r.seal_id, r.leaf_index, r.record_type,
    r.cost_micros::text as cost_micros, r.tenant_id, r.created_by, r.skill_id, r.archetype_id, r.user_id, r.event_kind,
    encode(r.salt, 'hex') as salt, r.canonical, s.purged_at, s.revision
  from unnest($2::uuid[], $3::uuid[], $4::uuid[]) with ordinality as e (seal_id, first_id, last_id, place)
  cross join lateral (
    select * from hub.records
    where tenant_id = $1 and record_id between e.first_id and e.last_id and seal_id = e.seal_id offset 0
  ) r ${lookUpState}
  order by e.place, r.leaf_index, r.record_id`

export async function findRecordsOfEntries(tx: TenantTx, entries: readonly LogEntry[]): Promise<RecordsOfEntries> {
  const { rows } = await tx.client.query<SealedRow>({
    name: 'hub_records_of_seals',
    text: recordsOfSeals,
    values: [
      tx.tenantId,
      entries.map((entry) => entry.sealId),
      entries.map((entry) => entry.firstId),
      entries.map((entry) => entry.lastId),
    ],
  })
  decryptRows(tx, rows)
  const seals = await findSeals(
    tx,
    entries.map((entry) => entry.sealId),
  )
  return { records: rows, seals: new Map(seals.map((seal) => [seal.seal_id, seal])) }
}

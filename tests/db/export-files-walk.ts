import { recordTypes } from '../../contract/literals.ts'
import type { RecordFilter } from '../../contract/record-filter.ts'
import type { TestHub } from '../support/hub.ts'

const id = '019a2f64-51f0-7c4e-9f3b-0d5a6e1c2b3a'

/** What exports read, by every member of a filter and from the middle of an entry on. */
export async function walkExportFiles(hub: TestHub, tenant: 'acme' | 'globex'): Promise<void> {
  const records = hub.modules.recordStore.sealedRecords
  const times = { created_at__gte: '2020-01-01T00:00:00.000000Z', created_at__lt: '2999-01-01T00:00:00.000000Z' }
  const filters: RecordFilter[] = [
    {},
    times,
    { record_id: id, skill_id: 'sum-up', archetype_id: 'analyst', user_id: 'user:kim@example.com', created_by: 'x' },
    { event_kind: 'custom.x', record_type: ['governance_event'] },
  ]
  for (const filter of filters) {
    await hub.test.database.withTenant(tenant, async (tx) => {
      const selection = { filter, recordTypes }
      const span = await records.spanOf(tx, filter, 1_000_000)
      await records.countLeaves(tx, span)
      await records.selectedEntries(tx, span, selection)
      await records.selectedRows(tx, span, selection, undefined)
      await records.selectedEntries(tx, span, { ...selection, recordIds: [id] })
      await records.selectedRows(tx, span, selection, { logIndex: 0, leafIndex: 0, recordId: id })
    })
  }
}

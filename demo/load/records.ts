import type { DemoApi, DemoCounts } from '../demo-api.ts'
import { type DemoRecord, demoRecords, legalHold, purgeReason } from '../records/records.ts'
import { listAll, queryAll, type StoredRecord } from './lists.ts'
import type { StepProgress } from './progress.ts'

/** Writes the records that are not stored yet, sources first, so that each names records that exist. */
export async function writeRecords(
  api: DemoApi,
  writtenSince: string,
  progress: StepProgress,
): Promise<{ counts: DemoCounts; stored: Map<string, StoredRecord> }> {
  const stored = await storedRecords(api, writtenSince)
  let written = 0
  for (const record of demoRecords) {
    if (!stored.has(record.key)) {
      const { record_id } = await api.post<{ record_id: string }>('/api/v1/hub/records', {
        body: bodyOf(record, stored),
      })
      stored.set(record.key, { record_id, created_at: '', is_purged: false })
      written += 1
    }
    progress.advance(1)
  }
  return { counts: { written, found: demoRecords.length - written }, stored }
}

/** Returns records by the key that the demo uses: the title, or the id of a decision. */
async function storedRecords(api: DemoApi, writtenSince: string): Promise<Map<string, StoredRecord>> {
  const stored = new Map<string, StoredRecord>()
  for (const record_type of ['artifact', 'output', 'decision']) {
    const query = { record_type, include_purged: true, created_at__gte: writtenSince }
    for (const record of await queryAll(api, query)) stored.set(record.decision_id ?? record.title ?? '', record)
  }
  return stored
}

function bodyOf({ body, related }: DemoRecord, stored: ReadonlyMap<string, StoredRecord>) {
  return { ...body, related_records: related.map((key) => stored.get(key)!.record_id) }
}

/** Places the legal hold of the demo, and purges the duplicate record. */
export async function governRecords(api: DemoApi, stored: ReadonlyMap<string, StoredRecord>): Promise<void> {
  const holds = await listAll<{ name: string }>(api, '/api/v1/hub/legal-holds')
  if (!holds.some(({ name }) => name === legalHold.name)) {
    const held = demoRecords.filter(({ held }) => held).map(({ key }) => stored.get(key)!.record_id)
    await api.post('/api/v1/hub/legal-holds', { body: { ...legalHold, record_ids: held } })
  }
  for (const { key } of demoRecords.filter(({ purged }) => purged)) {
    const { record_id, is_purged } = stored.get(key)!
    if (!is_purged) await api.delete(`/api/v1/hub/records/${record_id}?${new URLSearchParams({ reason: purgeReason })}`)
  }
}

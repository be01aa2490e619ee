import { expect } from 'vitest'
import type { HubClient } from '../../sdk/typescript/src/index.ts'

/** A telemetry event whose metadata name its batch, and its place in it. */
export interface StoredEvent {
  record_id: string
  metadata?: { batch: string; at: number }
}

interface Page {
  records: StoredEvent[]
  next_cursor: string | null
  verification_summary: { verified: number }
}

/** Returns all telemetry of the client's tenant, and expects that each record verifies. */
export async function storedTelemetry(client: HubClient): Promise<StoredEvent[]> {
  const stored: StoredEvent[] = []
  let cursor: string | undefined
  do {
    const query = { record_type: 'telemetry_event', limit: 1000, verify: true, cursor }
    const page = await client.get<Page>('/api/v1/hub/records', query)
    expect(page.verification_summary.verified).toBe(page.records.length)
    stored.push(...page.records)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  return stored
}

import type { DemoApi } from '../demo-api.ts'

const pageSize = 1000

/** The members of a record that the loader uses. */
export interface StoredRecord {
  record_id: string
  created_at: string
  is_purged: boolean
  title?: string
  decision_id?: string
  content?: unknown
  metadata?: { demo_row?: number }
}

type Query = Record<string, string | boolean>

/** Reads all pages of a list. */
export async function listAll<Item>(api: DemoApi, path: string): Promise<Item[]> {
  const items: Item[] = []
  let cursor: string | undefined
  do {
    const page = await api.get<{ items: Item[]; next_cursor: string | null }>(path, { limit: pageSize, cursor })
    items.push(...page.items)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  return items
}

/** Reads all pages of a query of records. */
export async function queryAll(api: DemoApi, query: Query): Promise<StoredRecord[]> {
  const found: StoredRecord[] = []
  let cursor: string | undefined
  do {
    const page = await api.get<{ records: StoredRecord[]; next_cursor: string | null }>('/api/v1/hub/records', {
      ...query,
      limit: pageSize,
      cursor,
    })
    found.push(...page.records)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  return found
}

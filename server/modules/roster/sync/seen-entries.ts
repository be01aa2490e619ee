import type { TenantTx } from '../../../db/database.ts'
import { type EntryKind, externalIdsOf, insertEntries } from './sync-entries-store.ts'

export interface ReadEntry {
  /** Of the company's directory. */
  sourceId: string
  /** What the Hub is to know it by, unless another entry has it. */
  externalId: string
}

/**
 * Notes entries of a page. Answers how many were not met before, and for each the external id that is its alone: two
 * entries that claim one are not one person.
 */
export async function recordSeenEntries(
  tx: TenantTx,
  syncId: string,
  kind: EntryKind,
  entries: readonly ReadEntry[],
): Promise<{ fresh: number; externalIds: Map<string, string> }> {
  const fresh = await insertEntries(tx, syncId, kind, entries)
  const externalIds = new Map(
    entries.filter(({ sourceId }) => fresh.has(sourceId)).map((each) => [each.sourceId, each.externalId]),
  )
  const others = entries.filter(({ sourceId }) => !fresh.has(sourceId))
  if (others.length === 0) return { fresh: fresh.size, externalIds }
  const known = await externalIdsOf(
    tx,
    syncId,
    kind,
    others.map(({ sourceId }) => sourceId),
  )
  for (const [sourceId, externalId] of known) externalIds.set(sourceId, externalId)
  const rivals = others.filter(({ sourceId }) => !known.has(sourceId))
  const byOwnId = await insertEntries(
    tx,
    syncId,
    kind,
    rivals.map(({ sourceId }) => ({ sourceId, externalId: sourceId })),
  )
  for (const sourceId of byOwnId) externalIds.set(sourceId, sourceId)
  return { fresh: fresh.size + byOwnId.size, externalIds }
}

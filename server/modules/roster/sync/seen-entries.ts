import type { TenantTx } from '../../../db/database.ts'
import { type EntryKind, externalIdsOf, insertEntries } from './sync-entries-store.ts'

export interface ReadEntry {
  /** Id in the company's directory. */
  sourceId: string
  /** External id in the Hub, unless another entry has it. */
  externalId: string
}

/**
 * Records the entries of a page. Returns the number of new ones, and the unique external id of each: two entries that
 * claim one external id are not one person.
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

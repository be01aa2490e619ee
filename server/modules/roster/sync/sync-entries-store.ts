import type { TenantTx } from '../../../db/database.ts'
import { deleteRows } from '../../../db/tenant-rows.ts'

export interface ReadEntry {
  /** Id in the company's directory. */
  sourceId: string
  /** External id in the Hub, unless another entry has it. */
  externalId: string
}

export type EntryKind = 'user' | 'group'

/** Records entries that are new by id and by external id; returns their ids. */
export async function insertEntries(
  tx: TenantTx,
  syncId: string,
  kind: EntryKind,
  entries: readonly ReadEntry[],
): Promise<Set<string>> {
  const { rows } = await tx.client.query<{ source_id: string }>(
    `insert into hub.roster_sync_entries (tenant_id, sync_id, kind, source_id, external_id)
     select $1, $2, $3, given.source_id, given.external_id
     from unnest($4::text[], $5::text[]) as given (source_id, external_id)
     on conflict do nothing
     returning source_id`,
    [tx.tenantId, syncId, kind, entries.map((each) => each.sourceId), entries.map((each) => each.externalId)],
  )
  return new Set(rows.map((row) => row.source_id))
}

/** Returns the external ids of seen entries by id. */
export async function externalIdsOf(
  tx: TenantTx,
  syncId: string,
  kind: EntryKind,
  sourceIds: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await tx.client.query<{ source_id: string; external_id: string }>(
    `select source_id, external_id from hub.roster_sync_entries
     where tenant_id = $1 and sync_id = $2 and kind = $3 and source_id = any($4::text[])`,
    [tx.tenantId, syncId, kind, sourceIds],
  )
  return new Map(rows.map((row) => [row.source_id, row.external_id]))
}

export async function deleteEntries(tx: TenantTx, syncId: string): Promise<void> {
  await deleteRows(tx, 'hub.roster_sync_entries', { sync_id: syncId })
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

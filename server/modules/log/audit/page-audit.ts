import type { TenantTx } from '../../../db/database.ts'
import { findEntries, findSealParts, findTiles, type SealParts } from '../log-store.ts'
import type { LogEntry } from '../log-types.ts'
import type { AuditFailure } from './audit-types.ts'
import type { LogKeys } from './key-audit.ts'
import { auditRecords } from './record-audit.ts'
import { checkSeal } from './seal-check.ts'

export const pageEntries = 256
const hashBytes = 32

/** The result of a page's audit. */
export interface PageAudit {
  /** The leaves of the tree: those in the tile, or else those computed from the seals. */
  leaves: Uint8Array[]
  seals: number
  records: number
  erased: number
  failures: AuditFailure[]
}

/**
 * Audits the entries under one tile of the lowest level, from the records up.
 *
 * @param end the end of the audited range of the log; exclusive
 */
export async function auditPage(
  tx: TenantTx,
  tileIndex: number,
  end: number,
  log: { logName: string; keys: LogKeys },
): Promise<PageAudit> {
  const from = tileIndex * pageEntries
  const count = Math.min(pageEntries, end - from)
  const failures: AuditFailure[] = []
  const fail = (at: string, reason: string) => void failures.push({ at, reason })

  const found = await findEntries(tx, from, count)
  const entries = found.filter((entry) => entry.logIndex < from + count)
  const seals = await sealsOf(tx, entries)
  const tile = (await findTiles(tx, [{ level: 0, tileIndex }]))[0]?.hashes
  if (tile === undefined) fail(`tile:0/${tileIndex}`, 'it is missing')
  else if (tile.length < count * hashBytes) fail(`tile:0/${tileIndex}`, `it does not have all of its ${count} hashes`)

  const byIndex = new Map(entries.map((entry) => [entry.logIndex, entry]))
  const leavesOf = new Map<string, readonly Uint8Array[]>()
  const leaves: Uint8Array[] = []
  let sound = 0
  for (let logIndex = from; logIndex < from + count; logIndex += 1) {
    const committed = tile?.subarray((logIndex - from) * hashBytes, (logIndex - from + 1) * hashBytes)
    const inTile = committed?.length === hashBytes ? committed : undefined
    const entry = byIndex.get(logIndex)
    const stored = entry && seals.get(entry.sealId)
    const seal = stored && checkSeal(log.logName, stored, log.keys)
    leaves.push(inTile ?? seal?.leaf ?? new Uint8Array(hashBytes))
    if (entry === undefined) {
      fail(`entry:${logIndex}`, 'it is missing')
      continue
    }
    const at = `seal:${entry.sealId}`
    if (stored === undefined || seal === undefined) fail(at, `it is entry ${logIndex} of the log, and is missing`)
    else if (seal.problem !== undefined) fail(at, seal.problem)
    else if (inTile && seal.leaf && Buffer.compare(inTile, seal.leaf) !== 0) {
      fail(at, `it is not the seal that entry ${logIndex} of the log had: it was changed or replaced`)
    } else sound += 1
    if (seal && seal.leaves.length > 0) leavesOf.set(entry.sealId, seal.leaves)
  }
  const records = await auditRecords(tx, entries, leavesOf, (failure) => failures.push(failure))
  return { leaves, seals: sound, ...records, failures }
}

async function sealsOf(tx: TenantTx, entries: readonly LogEntry[]): Promise<Map<string, SealParts>> {
  const found = await findSealParts(
    tx,
    entries.map((entry) => entry.sealId),
  )
  return new Map(found.map((seal) => [seal.seal_id, seal]))
}

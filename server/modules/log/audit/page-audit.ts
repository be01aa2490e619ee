import { checkPage } from '../../../../provenance/log-verifier.ts'
import type { TenantTx } from '../../../db/database.ts'
import { nodeCrypto } from '../../../records/node-crypto.ts'
import { findEntries, findSealParts, findTiles, sealOfParts } from '../log-store.ts'
import type { LogEntry } from '../log-types.ts'
import { findRecordHeads, findTombstones } from './audit-store.ts'
import type { AuditFailure, TrustedLog } from './audit-types.ts'
import { auditRecords, type LeafClaim } from './record-audit.ts'

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
  { logName, trust }: TrustedLog,
): Promise<PageAudit> {
  const from = tileIndex * pageEntries
  const to = Math.min(from + pageEntries, end)
  const failures: AuditFailure[] = []
  const fail = (at: string, reason: string) => void failures.push({ at, reason })

  const entries = (await findEntries(tx, from, to - from)).filter((entry) => entry.logIndex < to)
  const sealIds = entries.map((entry) => entry.sealId)
  const seals = new Map((await findSealParts(tx, sealIds)).map((seal) => [seal.seal_id, sealOfParts(seal)]))
  const heads = await findRecordHeads(tx, entries)
  const tombstones = await findTombstones(tx, sealIds)
  const tile = (await findTiles(tx, [{ level: 0, tileIndex }]))[0]?.hashes
  const logLeafOf = (logIndex: number) => {
    const leaf = tile?.subarray((logIndex - from) * hashBytes, (logIndex - from + 1) * hashBytes)
    return leaf?.length === hashBytes ? leaf : undefined
  }
  if (tile === undefined) fail(`tile:0/${tileIndex}`, 'it is missing')
  else if (tile.length < (to - from) * hashBytes) {
    fail(`tile:0/${tileIndex}`, `it does not have all of its ${to - from} hashes`)
  }

  const page = checkPage<LogEntry, LeafClaim>(
    {
      ...{ logName, from, to, entries, logLeafOf, trust, claims: [...heads, ...tombstones] },
      sealOf: (sealId) => seals.get(sealId),
    },
    nodeCrypto,
  )
  for (const logIndex of page.missing) fail(`entry:${logIndex}`, 'it is missing')
  const leaves = Array.from({ length: to - from }, (_, at) => logLeafOf(from + at) ?? new Uint8Array(hashBytes))
  let sound = 0
  for (const { entry, problems, logLeaf } of page.entries) {
    if (problems[0]) fail(`seal:${entry.sealId}`, problems[0].reason)
    else sound += 1
    leaves[entry.logIndex - from] = logLeafOf(entry.logIndex) ?? logLeaf ?? new Uint8Array(hashBytes)
  }
  const records = await auditRecords(tx, page.entries, { heads, tombstones }, fail)
  return { leaves, seals: sound, ...records, failures }
}

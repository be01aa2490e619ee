import { equalBytes } from '../../../provenance/bytes.ts'
import { logLeafHash, ProvenanceError, sealNote } from '../../../provenance/index.ts'
import { sealTree } from '../../../provenance/seal.ts'
import { nodeCrypto } from '../../records/node-crypto.ts'
import { sealOf } from '../../records/record-cosign.ts'
import type { StoredSeal } from '../../records/record-rows.ts'
import type { LogEntry } from '../log/log-types.ts'
import { listed } from './finding.ts'
import type { Finding, SweepCheck } from './sweep-types.ts'

/** The stored data of one entry of the log. */
export interface StoredUnderEntry {
  seal: StoredSeal | undefined
  /** The leaf in the tree; undefined if it cannot be read. */
  logLeaf: Uint8Array | undefined
  /** Records and tombstones that name a leaf of the seal. */
  claims: readonly { record_id: string; leaf_index: number }[]
}

export interface SealChecked {
  findings: Finding[]
  /** The number of leaves without a record or tombstone. */
  missing: number
  /** The leaves of the seal; undefined if it is gone or unreadable. */
  leaves: readonly Uint8Array[] | undefined
}

/**
 * Checks that the seal of an entry is the one in the log, and that exactly one record or tombstone accounts for each
 * leaf. Other checks verify the records and tombstones.
 */
export function checkSeal(logName: string, entry: LogEntry, stored: StoredUnderEntry): SealChecked {
  const { sealId, logIndex } = entry
  const { seal, logLeaf, claims } = stored
  const finding = (check: SweepCheck, found: Finding['found'] = {}): Finding => ({
    subject: `seal:${sealId}`,
    failedChecks: [check],
    found: { log_index: logIndex, ...found },
  })
  if (seal === undefined) return { findings: [finding('seal_present')], missing: 0, leaves: undefined }
  const read = readSeal(logName, seal)
  if (read === undefined) return { findings: [finding('seal_in_log')], missing: 0, leaves: undefined }

  const findings: Finding[] = []
  if (logLeaf !== undefined && !equalBytes(logLeaf, read.logLeaf)) findings.push(finding('seal_in_log'))
  const count = read.leaves.length
  const claimants = Array.from({ length: count }, (): string[] => [])
  const elsewhere: string[] = []
  for (const { record_id, leaf_index } of claims) (claimants[leaf_index] ?? elsewhere).push(record_id)
  const missing = claimants.flatMap((ids, leaf) => (ids.length === 0 ? [leaf] : []))
  if (missing.length > 0)
    findings.push(finding('leaves_accounted_for', { leaves: count, ...listed('missing', missing) }))
  const contested = [...elsewhere, ...claimants.filter((ids) => ids.length > 1).flat()]
  if (contested.length > 0) findings.push(finding('leaf_claimed_once', listed('records', contested)))
  return { findings: merged(findings), missing: missing.length, leaves: read.leaves }
}

/** Merges findings of one subject into one report. */
function merged(findings: readonly Finding[]): Finding[] {
  const [first] = findings
  if (first === undefined) return []
  return [
    {
      subject: first.subject,
      failedChecks: findings.flatMap((finding) => finding.failedChecks),
      found: Object.assign({}, ...findings.map((finding) => finding.found)),
    },
  ]
}

/**
 * Returns the leaf of a seal in the log (the hash of its signed note) and its own leaves; undefined for an impossible
 * seal.
 */
function readSeal(logName: string, stored: StoredSeal): { logLeaf: Uint8Array; leaves: Uint8Array[] } | undefined {
  const seal = sealOf(stored)
  if (seal === undefined) return undefined
  try {
    const { leaves, root } = sealTree(seal, nodeCrypto.sha256)
    const note = sealNote({ ...seal, logName, leafCount: leaves.length, root }, seal.keyId, seal.signature)
    return { logLeaf: logLeafHash(note, nodeCrypto.sha256), leaves }
  } catch (error) {
    if (error instanceof ProvenanceError) return undefined
    throw error
  }
}

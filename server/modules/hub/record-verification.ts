import { equalBytes } from '../../../provenance/bytes.ts'
import { type KeyRing, leafHash, ProvenanceError, verifyRecordsSync } from '../../../provenance/index.ts'
import { nodeCrypto } from './node-crypto.ts'
import type { ReadRecord } from './record-answer.ts'
import { indexColumnsOf } from './record-columns.ts'
import type { StoredSeal } from './record-query-types.ts'
import type { Release } from './record-state-store.ts'

/** Interface 2.4. */
export interface Verification {
  verified: boolean
  checks: {
    provenance_hash_matches: boolean
    provenance_cosign_valid: boolean
    schema_version_supported: boolean
    no_active_legal_hold_violation: boolean
  }
}

/** Interface 2.5. */
export interface VerificationSummary {
  checked: number
  verified: number
  tampered: number
  cosign_invalid: number
}

/** What is stored about records apart from their own rows, as far as verification compares it. */
export interface Evidence {
  seals: ReadonlyMap<string, StoredSeal>
  /** Stored targets of each record's links. */
  links: ReadonlyMap<string, readonly string[]>
  /** Releases of the purged governance events among the records. */
  releases: readonly Release[]
}

/**
 * Verifies stored records: hash and cosignature of the canonical bytes, and that every copy of something in those
 * bytes (index columns, links, the leaf in the seal) still says the same. Never throws for what is stored.
 */
export function verifyStored(records: readonly ReadRecord[], evidence: Evidence, keys: KeyRing): Verification[] {
  const items = records.map((record) => ({
    record: record.row.canonical,
    hash: record.provenanceHash,
    cosign: record.provenanceCosign,
  }))
  return verifyRecordsSync(items, keys, nodeCrypto).map(({ checks }, i) => {
    const record = records[i]!
    const all = {
      provenance_hash_matches:
        checks.provenance_hash_matches &&
        columnsAgree(record) &&
        linksAgree(record, evidence.links.get(record.row.record_id) ?? []),
      provenance_cosign_valid: checks.provenance_cosign_valid && isItsLeaf(record, evidence.seals),
      schema_version_supported: checks.schema_version_supported,
      no_active_legal_hold_violation: !wasPurgedUnderHold(record, evidence.releases),
    }
    return { verified: Object.values(all).every(Boolean), checks: all }
  })
}

/** A record can be both tampered with and badly cosigned; an unsupported schema version alone is neither. */
export function summaryOf(verifications: readonly Verification[]): VerificationSummary {
  const count = (test: (verification: Verification) => boolean) => verifications.filter(test).length
  return {
    checked: verifications.length,
    verified: count(({ verified }) => verified),
    tampered: count(({ checks }) => !checks.provenance_hash_matches || !checks.no_active_legal_hold_violation),
    cosign_invalid: count(({ checks }) => !checks.provenance_cosign_valid),
  }
}

/** Names of the checks that failed. */
export function failedChecks(verification: Verification): string[] {
  return Object.entries(verification.checks).flatMap(([check, passed]) => (passed ? [] : [check]))
}

function columnsAgree({ row, members }: ReadRecord): boolean {
  if (members === undefined) return false
  const columns = indexColumnsOf(row.record_type, members)
  return (
    members.tenant_id === row.tenant_id &&
    members.record_id === row.record_id &&
    members.record_type === row.record_type &&
    members.created_by === row.created_by &&
    columns.skillId === row.skill_id &&
    columns.archetypeId === row.archetype_id &&
    columns.userId === row.user_id &&
    columns.eventKind === row.event_kind &&
    (columns.costMicros === null ? null : String(columns.costMicros)) === row.cost_micros
  )
}

function linksAgree({ members }: ReadRecord, stored: readonly string[]): boolean {
  const named = members?.related_records
  if (!Array.isArray(named) || named.length !== stored.length) return false
  const targets = new Set<unknown>(named)
  return stored.every((target) => targets.has(target))
}

/**
 * The seal's own copy of the record's leaf. The inclusion path leads past it, so the cosignature alone would not
 * notice that it was edited.
 */
function isItsLeaf({ row }: ReadRecord, seals: ReadonlyMap<string, StoredSeal>): boolean {
  const leaves = seals.get(row.seal_id)?.leaves
  if (leaves === undefined) return false
  const stored = leaves.subarray(32 * row.leaf_index, 32 * row.leaf_index + 32)
  try {
    return equalBytes(stored, leafHash(row.salt, row.provenance_hash, nodeCrypto.sha256))
  } catch (error) {
    if (error instanceof ProvenanceError) return false
    throw error
  }
}

/** A governance event stays unless a release for it was active when it was purged. */
function wasPurgedUnderHold({ row }: ReadRecord, releases: readonly Release[]): boolean {
  const purgedAt = row.purged_at
  if (row.record_type !== 'governance_event' || purgedAt === null) return false
  return !releases.some((release) => release.record_id === row.record_id && isReleaseActive(release, purgedAt))
}

/** Whether a release permits purging at a time; both in the one text form of timestamps, which sorts as time does. */
export function isReleaseActive(release: Pick<Release, 'created_at' | 'expires_at'>, at: string): boolean {
  return release.created_at <= at && (release.expires_at === null || at < release.expires_at)
}

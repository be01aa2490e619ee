import { isLeafOf } from '../../../provenance/seal.ts'
import { isSaltOfContent } from '../../db/content-salt.ts'
import type { DestroyedKey } from '../../db/database.ts'
import type { ModuleParts } from '../../module-parts.ts'
import { nodeCrypto } from '../../records/node-crypto.ts'
import type { SealedRow } from '../../records/record-rows.ts'
import type { HoldCheck } from '../legal-holds/holds-types.ts'
import type { VerificationPool } from './provenance-check-pool.ts'
import { createRecordVerifier, createStoredVerification } from './record-verifier.ts'
import { createTamperReporter } from './tamper-reporter.ts'
import type { ErasedContentCheck, NamedFinding, TamperFinding, VerifiedEvents } from './verification-types.ts'

/** Creates the verification of stored records, and the reports of what fails. */
export function createVerificationModule(
  deps: Pick<ModuleParts, 'database' | 'keys' | 'governance' | 'directory' | 'log'> & {
    pool: VerificationPool
    verifiedEvents: VerifiedEvents
    holds: HoldCheck
  },
) {
  const { directory, log } = deps
  const erasedContents = createErasedContentCheck(deps.verifiedEvents)
  const check = createRecordVerifier({ ...deps, erasedContents })
  const tampering = createTamperReporter({ ...deps, check })
  return {
    verification: createStoredVerification({ check, tampering }),
    erasedContents,
    tampering,
    /** Reports a finding about a tenant, and returns at once. The next read, or the sweeper, finds it again. */
    reportFor(slug: string, finding: TamperFinding & NamedFinding): void {
      directory.find(slug, { evenSuspended: true }).then(
        (tenant) => tenant && tampering.report(tenant, [finding]),
        (err: unknown) => log.error({ err, tenant: slug, subject: finding.subject }, 'tampering could not be reported'),
      )
    },
  }
}

export function createErasedContentCheck(verifiedEvents: VerifiedEvents): ErasedContentCheck {
  return {
    async find(tx, records) {
      const keys = new Map<string, DestroyedKey>()
      for (const { record_id, canonical } of records) {
        const key = canonical.startsWith('{') ? undefined : tx.contents.destroyedKeyOf(tx.tenantId, canonical)
        if (key) keys.set(record_id, key)
      }
      const eventIds = new Set([...keys.values()].map((key) => key.eventId))
      return { keys, events: keys.size === 0 ? new Map() : await verifiedEvents.find(tx, [...eventIds]) }
    },

    isProven(tenantId, record, { keys, events }, leaf) {
      const key = keys.get(record.record_id)!
      const event = events.get(key.eventId ?? '')
      return (
        event?.kind === 'cmek.key_destroyed' &&
        event.subject === `tenant:${tenantId}` &&
        Array.isArray(event.details.key_ids) &&
        event.details.key_ids.includes(key.keyId) &&
        isSaltOfContent(Buffer.from(record.salt, 'hex'), tenantId, key.keyId) &&
        (leaf === undefined || hasLeaf(record, leaf))
      )
    },
  }
}

function hasLeaf({ salt, provenance_hash }: SealedRow, leaf: Uint8Array): boolean {
  return isLeafOf(leaf, Buffer.from(salt, 'hex'), Buffer.from(provenance_hash, 'hex'), nodeCrypto.sha256)
}

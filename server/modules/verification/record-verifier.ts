import { isJsonObject } from '../../../provenance/json.ts'
import type { TenantTx } from '../../db/database.ts'
import { parseCanonical } from '../../records/record-response.ts'
import { heldRecordOf, type SealedRow, type StoredRecord } from '../../records/record-rows.ts'
import { findStates, neverErased, type StateOfRecord } from '../../records/record-state-store.ts'
import { findLinks, findRecords, findSeals, includingErasable } from '../../records/record-store.ts'
import type { ProvenanceKeys } from '../keys/keys-types.ts'
import type { HoldCheck } from '../legal-holds/holds-types.ts'
import { passed, passedAll, taskOf } from './provenance-check.ts'
import type { VerificationPool } from './provenance-check-pool.ts'
import type { ErasedContentCheck, StoredVerification, TamperReporter, Verification } from './verification-types.ts'

/** Same as {@link StoredVerification.prepare}, without reporting failures. */
export type RecordVerifier = StoredVerification['prepare']

/** Creates the verifier of stored records: provenance, state and legal holds. */
export function createRecordVerifier(deps: {
  keys: Pick<ProvenanceKeys, 'publicKeysOf'>
  pool: VerificationPool
  holds: HoldCheck
  erasedContents: ErasedContentCheck
}): RecordVerifier {
  const { keys, pool, holds, erasedContents } = deps

  /** Reads the data, besides the records' own rows, that verification compares. */
  async function gather(tx: TenantTx, rows: readonly SealedRow[]) {
    const states = await loadStateEvidence(tx, rows, holds)
    const all = [...rows, ...states.events.values()]
    return {
      seals: await findSeals(tx, [...new Set(all.map((row) => row.seal_id))]),
      links: await findLinks(tx, [...new Set(all.map((row) => row.record_id))]),
      states,
      erased: await erasedContents.find(tx, rows),
    }
  }

  async function verify(
    tenantId: string,
    records: readonly SealedRow[],
    evidence: Awaited<ReturnType<typeof gather>>,
  ): Promise<Verification[]> {
    const { seals, states, erased } = evidence
    const publicKeys = await keys.publicKeysOf(tenantId, [...new Set(seals.map((seal) => seal.key_id))])
    const events = [...states.events.values()]
    const results = await pool.check(taskOf([...records, ...events], evidence, publicKeys))
    const soundEvents = new Set(events.filter((_, at) => results[records.length + at] === passedAll))
    return records.map((record, at) => {
      const result = results[at]!
      const isStateSound = stateAgrees(record, states, (event) => soundEvents.has(event))
      const isCosigned = (result & passed.cosign) !== 0
      // Without the text, the stored hash is compared with the sealed leaf; the cosignature check has done that.
      const isGone = erased.keys.has(record.record_id)
      const isGoneProven = isGone && isCosigned && erasedContents.isProven(tenantId, record, erased, undefined)
      const checks = {
        provenance_hash_matches: ((result & passed.hash) !== 0 || isGoneProven) && isStateSound,
        provenance_cosign_valid: isCosigned,
        schema_version_supported: (result & passed.schemaVersion) !== 0 || isGoneProven,
        no_active_legal_hold_violation: !states.purgedUnderHold.has(record.record_id),
      }
      const verified = Object.values(checks).every(Boolean)
      return { verified, checks, ...(isGone && { content: 'unavailable' as const }) }
    })
  }

  return async (tx, tenant, records) => {
    const evidence = await gather(tx, records)
    return () => verify(tenant.slug, records, evidence)
  }
}

/** Creates the verification for readers. It reports failures after the response. */
export function createStoredVerification(deps: {
  check: RecordVerifier
  tampering: Pick<TamperReporter, 'report'>
}): StoredVerification {
  return {
    async prepare(tx, tenant, records) {
      const check = await deps.check(tx, tenant, records)
      return async () => {
        const verifications = await check()
        deps.tampering.report(
          tenant,
          verifications.flatMap(({ verified, checks }, at) =>
            verified ? [] : [{ recordId: records[at]!.record_id, failedChecks: failedChecks(checks) }],
          ),
        )
        return verifications
      }
    },
  }
}

function failedChecks(checks: Verification['checks']): string[] {
  return Object.entries(checks).flatMap(([check, passed]) => (passed ? [] : [check]))
}

/** The data that verification compares with the changed states of records. */
interface StateEvidence {
  states: ReadonlyMap<string, StateOfRecord>
  /** The governance events that the states name, by id. They are verified with the records. */
  events: ReadonlyMap<string, StoredRecord>
  /** The ids of the records that were purged under a hold or without the required release. */
  purgedUnderHold: ReadonlySet<string>
}

/** Loads the evidence. Queries the database only for records whose state has changed. */
async function loadStateEvidence(tx: TenantTx, rows: readonly SealedRow[], holds: HoldCheck): Promise<StateEvidence> {
  const changed = rows.filter((row) => row.purged_at !== null || (row.revision ?? 0) > 0)
  if (changed.length === 0) return { states: new Map(), events: new Map(), purgedUnderHold: new Set() }
  const stored = await findStates(
    tx,
    changed.map((row) => row.record_id),
  )
  const states = new Map(stored.map((state) => [state.record_id, state]))
  const events = await findRecords(tx, [...new Set(stored.flatMap((state) => state.event_id ?? []))], includingErasable)
  const purged = changed.flatMap((row) => {
    const purged_at = states.get(row.record_id)?.purged_at ?? row.purged_at
    return purged_at === null ? [] : [{ ...heldRecordOf(row), purged_at }]
  })
  return {
    states,
    events: new Map(events.map((event) => [event.record_id, event])),
    purgedUnderHold: await holds.purgedUnderHold(tx, purged),
  }
}

/**
 * Returns whether the stored state of a record agrees with its last governance event. A state that somebody changed by
 * hand has no such event.
 *
 * @param isSound returns whether an event verifies
 */
function stateAgrees(
  { record_id }: SealedRow,
  { states, events }: StateEvidence,
  isSound: (event: StoredRecord) => boolean,
): boolean {
  const state = states.get(record_id)
  // No state: never changed.
  if (state === undefined) return true
  const event = events.get(state.event_id ?? '')
  if (event === undefined || !isSound(event)) return false
  const { event_kind, created_by, subject, details } = parseCanonical(event.canonical) ?? {}
  if (created_by !== 'service:hub' || subject !== `record:${record_id}`) return false
  if (!isJsonObject(details) || !isAbsentOr(state.revision, details.revision)) return false
  if (state.purged_at === null) return event_kind === 'hub.record_restored' && state.hard_delete_after === null
  return (
    event_kind === 'hub.record_purged' &&
    details.purged_at === state.purged_at &&
    details.reason === state.purge_reason &&
    details.actor === state.purged_by &&
    endsNotBefore(state.hard_delete_after, details.hard_delete_after) &&
    (state.hard_delete_after !== neverErased || state.is_frozen)
  )
}

/** Compares a value with the event's. Events of an earlier version of the service lack some values. */
function isAbsentOr(stored: unknown, recorded: unknown): boolean {
  return recorded === undefined || recorded === stored
}

/** Compares the ends of the recovery period. Holds may postpone the end. */
function endsNotBefore(end: string | null, recorded: unknown): boolean {
  return end !== null && (typeof recorded !== 'string' || end >= recorded)
}

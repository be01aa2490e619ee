import type { TenantTx } from '../../../db/database.ts'
import type { SealedRow, StoredRecord } from '../../../records/record-rows.ts'
import { findStates, type StateOfRecord } from '../../../records/record-state-store.ts'
import { findRecords, includingErasable } from '../../../records/record-store.ts'
import { findFilterPeriods, findNamedPeriods, type HoldPeriod } from '../legal-holds/hold-history-store.ts'
import type { HoldReleaseVerifier } from '../legal-holds/hold-release-verifier.ts'
import type { HoldCheck } from '../legal-holds/holds-types.ts'
import type { Release } from '../legal-holds/releases-store.ts'

/** The data that verification compares with the changed states of records. */
export interface StateEvidence {
  states: ReadonlyMap<string, StateOfRecord>
  /** The governance events that the states name, by id. They are verified with the records. */
  events: ReadonlyMap<string, StoredRecord>
  /** The releases of the purged governance events among the records, each with a verified event. */
  releases: readonly Release[]
  /** Holds that name purged records and were in force at their purge, by record id. */
  naming: ReadonlyMap<string, readonly HoldPeriod[]>
  /** Filter holds that were in force at one or more of the purges. */
  filtering: readonly HoldPeriod[]
}

/** Distinguishes hold releases and purge releases by the service from those that somebody else wrote. */
export interface HoldEvidence {
  ends: HoldReleaseVerifier
  holds: Pick<HoldCheck, 'releasesOf'>
}

/** The evidence for records that were never purged. */
const nothing: StateEvidence = {
  states: new Map(),
  events: new Map(),
  releases: [],
  naming: new Map(),
  filtering: [],
}

/** Loads the evidence. Queries the database only for records whose state has changed. */
export async function loadStateEvidence(
  tx: TenantTx,
  rows: readonly SealedRow[],
  deps: HoldEvidence,
): Promise<StateEvidence> {
  const changed = rows.filter((row) => row.purged_at !== null || (row.revision ?? 0) > 0)
  if (changed.length === 0) return nothing
  const states = await findStates(tx, idsOf(changed))
  const events = await findRecords(tx, [...new Set(states.flatMap((state) => state.event_id ?? []))], includingErasable)
  return {
    ...nothing,
    states: new Map(states.map((state) => [state.record_id, state])),
    events: new Map(events.map((event) => [event.record_id, event])),
    ...(await gatherHolds(tx, changed, states, deps)),
  }
}

async function gatherHolds(
  tx: TenantTx,
  rows: readonly SealedRow[],
  states: readonly StateOfRecord[],
  { ends, holds }: HoldEvidence,
) {
  const times = [...new Set(states.flatMap((state) => state.purged_at ?? []))].sort()
  if (times.length === 0) return {}
  const purged = rows.filter((row) => row.purged_at !== null)
  const purges = states.flatMap(({ record_id, purged_at }) => (purged_at === null ? [] : [{ record_id, purged_at }]))
  const unended = await ends.unproven(tx, idsOf(purges))
  const named = await findNamedPeriods(tx, purges, unended)
  return {
    releases: await holds.releasesOf(tx, idsOf(purged.filter((row) => row.record_type === 'governance_event'))),
    naming: Map.groupBy(named, (hold) => hold.record_id),
    filtering: await findFilterPeriods(tx, times, unended),
  }
}

function idsOf(rows: readonly { record_id: string }[]): string[] {
  return rows.map((row) => row.record_id)
}

import { randomBytes } from 'node:crypto'
import { DomainError } from '../../../../contract/domain-error.ts'
import { isJsonObject, type JsonValue } from '../../../../provenance/json.ts'
import type { TenantTx } from '../../../db/database.ts'
import { usersWithoutRecords } from '../../../db/users-without-records.ts'
import type { ErasedRecord } from '../../erasure/erasure-types.ts'
import { AdjustmentChange } from '../adjustments/adjustment-change.ts'
import { adjustSums, erasedTextsAt, erasedTextsOf } from '../adjustments/adjustment-store.ts'
import { deleteRatings, findRatings, lockRepricing } from '../prices/repricing-store.ts'
import { Cells } from './rollup-cells.ts'
import { renamedDelta } from './rollup-delta.ts'
import { renameUser } from './rollup-erased-store.ts'
import { countEvent } from './rollup-rebuild.ts'
import { mergeIntoRows } from './rollup-rows-store.ts'
import { deleteDeltas, deltasNaming, insertDelta, waitForRollups } from './rollup-store.ts'

const pseudonymPrefix = 'user:erased-'
const pseudonym = new RegExp(`^${pseudonymPrefix}[0-9a-f]{32}$`)

/** Returns whether a key of the rollups is the pseudonym of an erased person. */
export function isPseudonym(userId: string): boolean {
  return pseudonym.test(userId)
}

/**
 * Keeps the sums of erased events but not their user. The additions of the
 * events are stored for a rebuild, and once no record of a user remains, a random name replaces the user everywhere.
 */
export async function eraseFromRollups(tx: TenantTx, records: readonly ErasedRecord[]): Promise<void> {
  const events = records.filter((record) => record.record_type === 'telemetry_event')
  const users = [...new Set(records.flatMap(usersOf))]
  // Otherwise an event might be repriced, and the sums corrected under its user, after its erasure.
  await lockRepricing(tx)
  const change = new AdjustmentChange(tx)
  if (events.length > 0 || users.length > 0) {
    if (!(await waitForRollups(tx))) throw busy(tx.tenantId)
    await carryOver(tx, events, change)
    await eraseUsers(tx, { users, erasedIds: records.map((record) => record.record_id), change })
  }
  // Includes other records: the proven sums name the newest event of an erasure.
  await adjustSums(
    tx,
    change,
    records.map((record) => record.event_id),
  )
}

async function carryOver(tx: TenantTx, events: readonly ErasedRecord[], change: AdjustmentChange): Promise<void> {
  if (events.length === 0) return
  const ids = events.map((event) => event.record_id)
  const ratings = await findRatings(tx, ids)
  const all = new Cells()
  for (const { record_id: recordId, canonical } of events) {
    const ratedMicros = ratings.get(recordId)
    // An unreadable event is in no sum of a rebuild.
    countEvent(all, { recordId, canonical, rated: ratedMicros !== undefined, ratedMicros: ratedMicros ?? null })
  }
  const cells = [...all.values()]
  await change.remove('erased', await erasedTextsAt(tx, cells))
  await mergeIntoRows(tx, 'erased', [cells])
  await change.add('erased', await erasedTextsAt(tx, cells))
  await change.remove('ratings', await deleteRatings(tx, ids))
}

async function eraseUsers(
  tx: TenantTx,
  { users, erasedIds, change }: { users: readonly string[]; erasedIds: readonly string[]; change: AdjustmentChange },
): Promise<void> {
  if (users.length === 0) return
  // Reads the deltas first: a user without records by then has none after this read.
  const deltas = await deltasNaming(tx, users)
  const gone = await usersWithoutRecords(tx, users, erasedIds)
  const nameOf = new Map(gone.map((user) => [user, `${pseudonymPrefix}${randomBytes(16).toString('hex')}`]))
  if (nameOf.size === 0) return
  const renamed = deltas
    .map(({ deltaId, entries }) => ({ deltaId, before: entries, after: renamedDelta(entries, nameOf) }))
    .filter(({ before, after }) => before !== after)
  await deleteDeltas(
    tx,
    renamed.map(({ deltaId }) => deltaId),
  )
  for (const { after } of renamed) await insertDelta(tx, after)
  for (const [user, other] of nameOf) {
    await change.remove('erased', await erasedTextsOf(tx, user))
    await renameUser(tx, user, other)
    await change.add('erased', await erasedTextsOf(tx, other))
  }
}

/** Returns the user of the column, and the user of the text from which sums are made. */
function usersOf({ user_id, record_type, canonical }: ErasedRecord): string[] {
  const named = record_type === 'telemetry_event' ? userIn(canonical) : undefined
  return [user_id, named].filter((user): user is string => typeof user === 'string')
}

function userIn(canonical: string): JsonValue | undefined {
  try {
    const event = JSON.parse(canonical) as JsonValue
    return isJsonObject(event) ? event.user_id : undefined
  } catch {
    return undefined
  }
}

function busy(tenantId: string): DomainError {
  return new DomainError(
    'concurrent-modification',
    `Another process is changing the rollups of tenant ${tenantId}. Try again when it has finished.`,
  )
}

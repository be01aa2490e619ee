import { matchesFilter, type RecordFilter } from '../../../../contract/record-filter.ts'
import type { TenantTx } from '../../../db/database.ts'
import { type BufferedRecord, bufferedAfter, bufferedAmong, freezeBuffers, resumeBuffers } from './buffers-store.ts'
import type { HoldCheck } from './holds-types.ts'

/** Holds and the recovery buffers of records that are purged already. All under the exclusive lock of holds. */

const partSize = 1000

/** What a hold is over: the records of those ids, or those that match the filter. */
export type HoldScope = { recordIds: readonly string[] } | { filter: RecordFilter }

/**
 * Stops the clock of the buffers of all that a new hold is over.
 *
 * @returns when the latest of these records was purged
 */
export async function freeze(tx: TenantTx, scope: HoldScope, now: string): Promise<string | undefined> {
  let latest: string | undefined
  for await (const part of buffered(tx, scope, now)) {
    for (const { purged_at } of part) if (latest === undefined || purged_at > latest) latest = purged_at
    await freezeBuffers(tx, part.map(idOf), now)
  }
  return latest
}

/** Lets the buffers run on that a hold has frozen, now that it is released, where no other hold is over the record. */
export async function resume(tx: TenantTx, scope: HoldScope, now: string, holds: HoldCheck): Promise<void> {
  for await (const part of buffered(tx, scope, now)) {
    const others = await holds.activeOver(tx, part)
    const free = part.filter((_, at) => others[at]!.length === 0)
    if (free.length > 0) await resumeBuffers(tx, free.map(idOf), now)
  }
}

const idOf = ({ record_id }: BufferedRecord) => record_id

/** The purged records in their buffers that the scope is over, in parts. */
async function* buffered(tx: TenantTx, scope: HoldScope, now: string): AsyncGenerator<BufferedRecord[]> {
  if ('recordIds' in scope) {
    for (let from = 0; from < scope.recordIds.length; from += partSize) {
      const part = await bufferedAmong(tx, scope.recordIds.slice(from, from + partSize), now)
      if (part.length > 0) yield part
    }
    return
  }
  for (let after: string | undefined; ; ) {
    const found = await bufferedAfter(tx, { now, after }, partSize)
    const part = found.filter((record) => matchesFilter(scope.filter, record, record.created_at))
    if (part.length > 0) yield part
    if (found.length < partSize) return
    after = found.at(-1)!.record_id
  }
}

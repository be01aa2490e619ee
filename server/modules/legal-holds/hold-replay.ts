import type { TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import { nextTimePoint } from '../../records/monotonic-timestamp.ts'
import type { Actor } from '../governance/governance-types.ts'
import { appliedDetails, appliedKind, releasedDetails, releasedKind } from './hold-events.ts'
import type { HoldReplay, JournaledHold, JournaledHoldRelease } from './hold-journal-types.ts'
import { type HoldsDeps, storedScope } from './holds-service.ts'
import { findHold, insertHold, markReleased, takeHoldsLock } from './holds-store.ts'
import type { HoldRow } from './holds-types.ts'
import { resumeRecoveryPeriods } from './recovery-periods.ts'
import { pauseRecoveryPeriods } from './recovery-periods-store.ts'

/** Creates the replay of the hold journal into a restored database. */
export function createHoldReplay(
  deps: Pick<HoldsDeps, 'database' | 'clock' | 'governance' | 'holds' | 'retention'>,
): HoldReplay {
  const { database, clock, governance, holds, retention } = deps

  async function place(tx: TenantTx, tenant: Tenant, kept: JournaledHold, actor: Actor): Promise<void> {
    const { hold_id, name, reason, filter, record_ids, created_at, created_by } = kept
    // Uses the original time: a recovery period that would be over by now had not ended when the hold stopped it.
    const latestPurge = await pauseRecoveryPeriods(tx, filter ? { filter } : { recordIds: record_ids }, created_at)
    const isLater = latestPurge !== undefined && latestPurge >= created_at
    const hold: HoldRow = {
      ...{ hold_id, name, reason, filter, created_by },
      record_count: filter ? null : record_ids.length,
      created_at: isLater ? nextTimePoint(clock.next().micros, [latestPurge]).text : created_at,
      ...{ released_at: null, released_by: null, release_reason: null, event_id: null, release_event_id: null },
    }
    const event = await governance.append(tx, tenant, {
      kind: appliedKind,
      subject: `hold:${hold_id}`,
      details: { ...appliedDetails(hold, record_ids), restored: true },
      actor,
    })
    await insertHold(tx, { ...hold, event_id: event.recordId }, record_ids)
  }

  async function release(
    tx: TenantTx,
    tenant: Tenant,
    hold: HoldRow,
    end: JournaledHoldRelease,
    actor: Actor,
  ): Promise<void> {
    const { hold_id } = hold
    const { released_at, released_by, release_reason } = end
    const release = { released_at, released_by, release_reason }
    const { four_eyes } = await retention.inForce(tx)
    await resumeRecoveryPeriods(tx, { hold_id, ...(await storedScope(tx, hold)) }, clock.next().createdAt, holds)
    const event = await governance.append(tx, tenant, {
      kind: releasedKind,
      subject: `hold:${hold_id}`,
      details: { ...releasedDetails({ ...hold, ...release }), ...(four_eyes ? { four_eyes } : {}), restored: true },
      actor,
    })
    await markReleased(tx, hold_id, { ...release, release_event_id: event.recordId })
  }

  return {
    async reapply(tenant, list, actor) {
      const done = { placed: 0, released: 0 }
      for await (const { hold: kept, end } of list.read(tenant.slug)) {
        await database.withTenant(tenant.slug, async (tx) => {
          await takeHoldsLock(tx)
          const stored = await findHold(tx, kept.hold_id)
          if (stored === undefined && end === undefined) {
            await place(tx, tenant, kept, actor)
            tx.afterCommit(() => (done.placed += 1))
          } else if (stored && stored.released_at === null && end) {
            await release(tx, tenant, stored, end, actor)
            tx.afterCommit(() => (done.released += 1))
          }
        })
      }
      return done
    },
  }
}

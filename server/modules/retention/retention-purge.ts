import { readTenant, type TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { ModuleParts } from '../../module-parts.ts'
import { microsOf, nextTimePoint, timeOfMicros } from '../../records/monotonic-timestamp.ts'
import { purgeDetails, recoveryBufferMicros, retentionSubject } from '../../records/purge-details.ts'
import { recordIdFloor } from '../../records/record-clock.ts'
import { heldRecordOf } from '../../records/record-rows.ts'
import type { HoldCheck } from '../legal-holds/holds-types.ts'
import { dayMicros } from './retention-policy.ts'
import { findHeld, findOverdue, lockActive, type OverdueCriteria, savePurges, wereReplaced } from './retention-store.ts'
import type { ProvenRetention, RetentionPolicy, RetentionPurge, RetentionRules } from './retention-types.ts'

/** Limits the purges in one transaction. */
const recordsMax = 500

/** Purges records beyond the maximum retention of their tenant. The usual recovery period follows. */
export function createRetentionPurge(
  deps: Pick<ModuleParts, 'database' | 'clock' | 'governance'> & {
    holds: HoldCheck
    retention: RetentionPolicy
  },
): RetentionPurge {
  const { database, clock, governance, holds, retention: policy } = deps

  /** Returns the rules in force: stored rules that a verified event records and no later event replaces. */
  async function findRules(tx: TenantTx): Promise<ProvenRetention> {
    const retention = await policy.inForce(tx)
    return (await wereReplaced(tx)) ? { ...retention, rules: [] } : retention
  }

  /**
   * Returns the records that are still overdue: the rules may have changed since they were found. Holds cannot change
   * any more. Held records are not locked, because the next hourly run finds them again. With four eyes, records that
   * the author of the rules released are kept, because somebody else must purge them.
   */
  async function stillOverdue(tx: TenantTx, now: string, recordIds: readonly string[]) {
    const retention = await findRules(tx)
    const limits = overdueCriteria(retention, now)
    const found = await findHeld(tx, recordIds)
    const held = found.map(heldRecordOf)
    const active = await holds.activeOver(tx, held)
    const { author = '', four_eyes } = retention
    const released = await holds.releasedBy(tx, author, held, four_eyes)
    const free = found
      .filter((_, at) => active[at]!.length + released[at]!.length === 0)
      .map(({ record_id }) => record_id)
    const records = await lockActive(tx, free)
    return records.filter(({ record_type, record_id }) => {
      const limit = limits.find(({ recordType }) => recordType === record_type)
      return limit !== undefined && record_id < limit.beforeId
    })
  }

  async function purgePart(tx: TenantTx, tenant: Tenant, now: string, recordIds: readonly string[]): Promise<number> {
    await holds.lock(tx)
    const records = await stillOverdue(tx, now, recordIds)
    if (records.length === 0) return 0
    const moment = nextTimePoint(clock.next().micros, [await holds.lastRelease(tx)])
    const purge = {
      purged_at: moment.text,
      purged_by: retentionSubject,
      purge_reason: 'Older than the retention rule of its type allows',
      hard_delete_after: timeOfMicros(moment.micros + recoveryBufferMicros),
      buffer_left_micros: null,
    }
    const events = await governance.appendAll(
      tx,
      tenant,
      records.map(({ record_id, record_type, revision }) => ({
        kind: 'hub.record_purged',
        subject: `record:${record_id}`,
        details: purgeDetails(record_type, { ...purge, revision: revision + 1, event_id: null }),
        actor: { service: 'retention' },
      })),
    )
    const eventOf = new Map(records.map(({ record_id }, at) => [record_id, events[at]!.recordId]))
    await savePurges(tx, purge, eventOf)
    return records.length
  }

  async function* parts(tenant: Tenant, { signal, asOf }: { signal?: AbortSignal; asOf?: string }) {
    const now = asOf ?? clock.next().createdAt
    const rules = await readTenant(database, tenant.slug, findRules)
    for (const criteria of overdueCriteria(rules, now)) {
      for (let after: string | undefined; !signal?.aborted; ) {
        const ids = await readTenant(database, tenant.slug, (tx) => findOverdue(tx, criteria, after, recordsMax), {
          inIndexOrder: true,
        })
        if (ids.length === 0) break
        yield await database.withTenant(tenant.slug, (tx) => purgePart(tx, tenant, now, ids))
        after = ids.at(-1)
      }
    }
  }

  return {
    parts: (tenant, options = {}) => parts(tenant, options),
    async purge(tenant, options = {}) {
      let purged = 0
      for await (const count of parts(tenant, options)) purged += count
      return purged
    },
  }
}

/**
 * Returns the criteria for records beyond their maximum retention at a time. The service never purges governance
 * events.
 */
function overdueCriteria({ rules }: RetentionRules, now: string): OverdueCriteria[] {
  return rules.flatMap(({ record_type, max_days }) =>
    max_days === undefined || record_type === 'governance_event'
      ? []
      : [{ recordType: record_type, beforeId: idFloorOf(microsOf(now) - max_days * dayMicros) }],
  )
}

function idFloorOf(micros: number): string {
  const epochMs = Math.floor(micros / 1000)
  return recordIdFloor(epochMs, micros - epochMs * 1000)
}

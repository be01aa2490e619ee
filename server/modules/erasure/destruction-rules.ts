import { DomainError } from '../../../contract/domain-error.ts'
import { holdsNamedMax } from '../../../contract/limits.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { TenantTx } from '../../db/database.ts'
import { recordIdFloor } from '../../records/record-clock.ts'
import type { HoldCheck } from '../legal-holds/holds-types.ts'
import type { RetentionPolicy } from '../retention/retention-types.ts'
import { hasContentSince } from './erasure-store.ts'
import type { ContentDestruction } from './erasure-types.ts'

const dayMs = 24 * 3_600_000

/**
 * Decides when all content of a tenant may be destroyed at once: when no hold and no retention rule protects any of it.
 */
export function createDestructionRules(deps: { holds: HoldCheck; retention: RetentionPolicy }): ContentDestruction {
  async function requireNoHold(tx: TenantTx): Promise<void> {
    const holds = await deps.holds.inForce(tx)
    if (holds.length === 0) return
    throw new DomainError(
      'legal-hold',
      'A legal hold is active. The content can be destroyed after every hold of the tenant is released: POST ' +
        '/api/v1/hub/legal-holds/{hold_id}:release.',
      { extensions: { holds: holds.slice(0, holdsNamedMax) } },
    )
  }

  async function requireNotKept(tx: TenantTx): Promise<void> {
    const { rules } = await deps.retention.inForce(tx)
    for (const { record_type, min_days } of rules) {
      if (min_days === undefined || min_days === 0) continue
      const since = Math.max(0, Date.now() - min_days * dayMs)
      if (!(await hasContentSince(tx, record_type, recordIdFloor(since, 0)))) continue
      throw new DomainError(
        'retention',
        `There is content of the type ${record_type} that must be kept for ${min_days} days, by the retention rule ` +
          `for its type: some is younger, from after ${formatTimestamp(since)}.`,
        { errors: [{ pointer: '', detail: `keeps ${record_type} records for ${min_days} days` }] },
      )
    }
  }

  return {
    lock: deps.holds.lock,
    async requireAllowed(tx) {
      await requireNoHold(tx)
      await requireNotKept(tx)
    },
  }
}

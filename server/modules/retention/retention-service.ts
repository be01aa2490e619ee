import type { Static } from 'typebox'
import { type PointedError, validationFailed } from '../../../contract/domain-error.ts'
import type { JsonObject } from '../../../provenance/json.ts'
import { holdsLockClass } from '../../db/advisory-locks.ts'
import { readTenant, type TenantTx } from '../../db/database.ts'
import { lockTenant } from '../../db/tenant-lock.ts'
import type { Caller, Tenant } from '../../http/caller.ts'
import type { ModuleParts } from '../../module-parts.ts'
import type { VerifiedEvents } from '../verification/verification-types.ts'
import { rulesChange, rulesKind, rulesOfEvent, textOfRules } from './retention-policy.ts'
import type { RetentionBody } from './retention-schemas.ts'
import { findRetention, findRetentionEvent, inOrder, saveRetention } from './retention-store.ts'
import type { RetentionRule, RetentionRules } from './retention-types.ts'

export type Retention = ReturnType<typeof createRetention>

export function createRetention(
  deps: Pick<ModuleParts, 'database' | 'governance'> & { verifiedEvents: VerifiedEvents },
) {
  const { database, governance, verifiedEvents } = deps

  /** Returns whether a verified event records the rules. The absence of rules needs no event. */
  async function hasEvent(tx: TenantTx, rules: RetentionRules): Promise<boolean> {
    const eventId = await findRetentionEvent(tx)
    const verifiedRules = rulesOfEvent((await verifiedEvents.find(tx, [eventId])).get(eventId ?? ''))
    return textOfRules(verifiedRules ?? { rules: [], four_eyes: false }) === textOfRules(rules)
  }

  return {
    get: (tenant: Tenant) => readTenant(database, tenant.slug, findRetention),

    /**
     * Replaces all rules. Without `four_eyes`, that setting is unchanged.
     *
     * @throws DomainError `validation-failed` for rules that contradict themselves or each other
     */
    replace(caller: Caller, body: Static<typeof RetentionBody>): Promise<RetentionRules> {
      requireSound(body.rules)
      const { tenant } = caller
      const rules = inOrder(body.rules)
      return database.withTenant(tenant.slug, async (tx) => {
        // Purges share the lock, so each uses either the old rules or the new ones.
        await lockTenant(tx, holdsLockClass)
        const before = await findRetention(tx)
        const after = { rules, four_eyes: body.four_eyes ?? before.four_eyes }
        // Confirming rules that somebody put in by hand is a change, too.
        if (textOfRules(before) === textOfRules(after) && (await hasEvent(tx, after))) return before
        // Records the order of events, which their ids do not state exactly.
        const replaces = await findRetentionEvent(tx)
        const replaced = replaces === null ? {} : { replaces }
        const event = await governance.append(tx, tenant, {
          kind: rulesKind,
          subject: `tenant:${tenant.slug}`,
          details: { change: rulesChange, before: asJson(before), after: asJson(after), ...replaced },
          actor: caller,
        })
        await saveRetention(tx, { ...after, event_id: event.recordId })
        return findRetention(tx)
      })
    },
  }
}

function requireSound(rules: readonly RetentionRule[]): void {
  const errors: PointedError[] = []
  const types = new Set<string>()
  for (const [at, { record_type, min_days, max_days }] of rules.entries()) {
    const pointer = `/rules/${at}`
    if (types.has(record_type)) {
      errors.push({ pointer: `${pointer}/record_type`, detail: `repeats the rule for ${record_type}` })
    }
    types.add(record_type)
    if (min_days === undefined && max_days === undefined) {
      errors.push({ pointer, detail: 'requires min_days or max_days' })
    }
    if (min_days !== undefined && max_days !== undefined && max_days < min_days) {
      errors.push({ pointer: `${pointer}/max_days`, detail: `must not be less than min_days, which is ${min_days}` })
    }
    if (record_type === 'governance_event' && max_days !== undefined) {
      const detail = 'is not allowed for governance_event, which is purged only after a release'
      errors.push({ pointer: `${pointer}/max_days`, detail })
    }
  }
  if (errors.length > 0) throw validationFailed(errors)
}

function asJson({ rules, four_eyes }: RetentionRules): JsonObject {
  return { rules: rules.map((rule): JsonObject => ({ ...rule })), four_eyes }
}

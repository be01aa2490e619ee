import type { RecordType } from '../../../../contract/literals.ts'
import type { Caller, Tenant } from '../../../http/caller.ts'

/** How long records of a type stay, in days of their age. */
export interface RetentionRule {
  record_type: RecordType
  /** Younger ones cannot be purged. */
  min_days?: number
  /** Older ones are purged by the service. */
  max_days?: number
}

export interface RetentionRules {
  /** At most one for each type, in the order of the types. */
  rules: RetentionRule[]
  /** Whoever releases may not purge. */
  four_eyes: boolean
}

export interface Retention {
  get(tenant: Tenant): Promise<RetentionRules>
  /**
   * Replaces all rules; without `four_eyes` that stays as it is.
   *
   * @throws DomainError `validation-failed` for rules that contradict themselves or each other
   */
  replace(
    caller: Caller,
    body: { rules: readonly RetentionRule[]; four_eyes?: boolean | undefined },
  ): Promise<RetentionRules>
}

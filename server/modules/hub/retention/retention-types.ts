import type { RecordType } from '../../../../contract/literals.ts'
import type { Caller, Tenant } from '../../../http/caller.ts'

/** The retention of a record type, in days of age. */
export interface RetentionRule {
  record_type: RecordType
  /** The minimum retention. Younger records cannot be purged. */
  min_days?: number
  /** The maximum retention. The service purges older records. */
  max_days?: number
}

export interface RetentionRules {
  /** At most one per type, in the order of the types. */
  rules: RetentionRule[]
  /** Whether a person who releases may not purge. */
  four_eyes: boolean
}

export interface Retention {
  get(tenant: Tenant): Promise<RetentionRules>
  /**
   * Replaces all rules. Without `four_eyes`, that setting is unchanged.
   *
   * @throws DomainError `validation-failed` for rules that contradict themselves or each other
   */
  replace(
    caller: Caller,
    body: { rules: readonly RetentionRule[]; four_eyes?: boolean | undefined },
  ): Promise<RetentionRules>
}

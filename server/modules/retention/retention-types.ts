import type { Static } from 'typebox'
import type { TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { VerifiedEvent } from '../verification/verification-types.ts'
import type { RetentionSchema } from './retention-schemas.ts'

/** The rules, at most one per type, in the order of the types. */
export type RetentionRules = Static<typeof RetentionSchema>
export type RetentionRule = RetentionRules['rules'][number]

export interface ProvenRetention extends RetentionRules {
  /** The author of the rules; undefined without a verified event. */
  author: string | undefined
}

/** Decides how long records must be kept. */
export interface RetentionPolicy {
  /**
   * Returns the rules in force, combined from the stored rules and the verified event that they name. A rule that keeps
   * records applies if either contains it; a rule that has the service purge records applies only if both do.
   */
  inForce(tx: TenantTx): Promise<ProvenRetention>
  /**
   * Returns the time until which a record must be kept, or undefined without a rule. Times use the one text form of
   * timestamps.
   */
  keptUntil(rules: RetentionRules, record: { record_type: string; created_at: string }): string | undefined
  /** Returns whether an event records retention rules. */
  isRulesEvent(event: VerifiedEvent): boolean
  /**
   * Returns whether the stored rules are those of their verified event.
   *
   * @param known whether any event records rules, and the ids of the events that later ones replaced
   */
  areProven(tx: TenantTx, known: { hasRulesEvent: boolean; replaced: ReadonlySet<string> }): Promise<boolean>
}

/** Purges records beyond the maximum retention of their tenant. The usual recovery period follows. */
export interface RetentionPurge {
  /** Purges in parts. Returns the number of purged records. */
  purge(tenant: Tenant, options?: { signal?: AbortSignal; asOf?: string }): Promise<number>
  /** Purges in parts, each on request. Yields the number of records that each part purged. */
  parts(tenant: Tenant, options?: { signal?: AbortSignal; asOf?: string }): AsyncIterable<number>
}

import { type RecordType, recordTypes } from '../../../../contract/literals.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../../provenance/json.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { VerifiedEvent, VerifiedEvents } from '../verification/verified-events.ts'
import { findRetention, findRetentionEvent, inOrder } from './retention-store.ts'
import type { RetentionRule, RetentionRules } from './retention-types.ts'

/** The kind of events about rules; other settings of a tenant share it. */
export const rulesKind = 'tenant.config_changed'
export const rulesChange = 'retention_rules'

/** The rules in force. */
export interface ProvenRetention extends RetentionRules {
  /** The author of the rules; undefined without a verified event. */
  author: string | undefined
}

/**
 * Returns the rules in force, combined from the stored rules and the verified event that they name. A rule that keeps
 * records applies if either contains it; a rule that has the service purge records applies only if both do.
 */
export async function findProvenRetention(tx: TenantTx, verifiedEvents: VerifiedEvents): Promise<ProvenRetention> {
  const stored = await findRetention(tx)
  const eventId = await findRetentionEvent(tx)
  const event = (await verifiedEvents.find(tx, [eventId])).get(eventId ?? '')
  const verifiedRules = rulesOfEvent(event)
  const { actor } = event?.details ?? {}
  return {
    rules: inOrder(keepingLonger(stored.rules, verifiedRules?.rules ?? [])),
    four_eyes: stored.four_eyes || verifiedRules?.four_eyes === true,
    author: verifiedRules && typeof actor === 'string' ? actor : undefined,
  }
}

function keepingLonger(some: readonly RetentionRule[], others: readonly RetentionRule[]): RetentionRule[] {
  return recordTypes.flatMap((type): RetentionRule[] => {
    const [one, other] = [some, others].map((rules) => rules.find(({ record_type }) => record_type === type))
    if (one === undefined && other === undefined) return []
    const min = Math.max(one?.min_days ?? -1, other?.min_days ?? -1)
    const isOverdueInBoth = one?.max_days !== undefined && other?.max_days !== undefined
    return [
      {
        record_type: type,
        ...(min < 0 ? {} : { min_days: min }),
        ...(isOverdueInBoth ? { max_days: Math.max(one.max_days!, other.max_days!) } : {}),
      },
    ]
  })
}

/** Returns the rules that an event records; undefined for an event about anything else. */
export function rulesOfEvent(event: VerifiedEvent | undefined): RetentionRules | undefined {
  if (event?.kind !== rulesKind || event.details.change !== rulesChange) return undefined
  const { after } = event.details
  if (!isJsonObject(after) || !Array.isArray(after.rules) || typeof after.four_eyes !== 'boolean') return undefined
  return { rules: after.rules.flatMap(ruleOf), four_eyes: after.four_eyes }
}

function ruleOf(value: JsonValue): RetentionRule[] {
  if (!isJsonObject(value)) return []
  const { record_type, min_days, max_days } = value
  if (!recordTypes.includes(record_type as RecordType)) return []
  return [
    {
      record_type: record_type as RecordType,
      ...(typeof min_days === 'number' ? { min_days } : {}),
      ...(typeof max_days === 'number' ? { max_days } : {}),
    },
  ]
}

/** Returns the same text for equal rules, regardless of the member order in the request. */
export function textOfRules({ rules, four_eyes }: RetentionRules): string {
  return JSON.stringify([
    four_eyes,
    rules.map(({ record_type, min_days, max_days }) => [record_type, min_days ?? null, max_days ?? null]),
  ])
}

/**
 * Returns the additional details of a release event. A subject that releases under four eyes may never purge the
 * record.
 */
export async function fourEyesDetails(tx: TenantTx, verifiedEvents: VerifiedEvents): Promise<JsonObject> {
  const { four_eyes } = await findProvenRetention(tx, verifiedEvents)
  return four_eyes ? { four_eyes } : {}
}

import { type RecordType, recordTypes } from '../../../contract/literals.ts'
import { isJsonObject, type JsonValue } from '../../../provenance/json.ts'
import { microsOf, timeOfMicros } from '../../records/monotonic-timestamp.ts'
import type { VerifiedEvent, VerifiedEvents } from '../verification/verification-types.ts'
import { findRetention, findRetentionEvent, inOrder } from './retention-store.ts'
import type { RetentionPolicy, RetentionRule, RetentionRules } from './retention-types.ts'

/** The kind of events about rules; other settings of a tenant share it. */
export const rulesKind = 'tenant.config_changed'
export const rulesChange = 'retention_rules'

export const dayMicros = 86_400_000_000

export function createRetentionPolicy({ verifiedEvents }: { verifiedEvents: VerifiedEvents }): RetentionPolicy {
  return {
    async inForce(tx) {
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
    },

    keptUntil({ rules }, record) {
      const days = rules.find((rule) => rule.record_type === record.record_type)?.min_days
      return days === undefined ? undefined : timeOfMicros(microsOf(record.created_at) + days * dayMicros)
    },

    isRulesEvent: (event) => rulesOfEvent(event) !== undefined,

    async areProven(tx, { hasRulesEvent, replaced }) {
      const rules = await findRetention(tx)
      const eventId = await findRetentionEvent(tx)
      if (eventId === null) return !hasRulesEvent && rules.rules.length === 0 && !rules.four_eyes
      const verifiedRules = rulesOfEvent((await verifiedEvents.find(tx, [eventId])).get(eventId))
      return verifiedRules !== undefined && !replaced.has(eventId) && textOfRules(verifiedRules) === textOfRules(rules)
    },
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

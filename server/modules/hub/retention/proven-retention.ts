import { type RecordType, recordTypes } from '../../../../contract/literals.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../../provenance/json.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { VerifiedEvent, VerifiedEvents } from '../verified-events.ts'
import { findRetention, findRetentionEvent, inOrder } from './retention-store.ts'
import type { RetentionRule, RetentionRules } from './retention-types.ts'

/** The kind of the events that tell of rules; other settings of a tenant have it, too. */
export const rulesKind = 'tenant.config_changed'
export const rulesChange = 'retention_rules'

/** Rules to go by. */
export interface ProvenRetention extends RetentionRules {
  /** Who set them; undefined where no verified event tells. */
  author: string | undefined
}

/**
 * The rules, of what is stored and what the verified event says that it names: what keeps records counts in either, what
 * has them purged by the service only where both say so.
 */
export async function findProvenRetention(tx: TenantTx, told: VerifiedEvents): Promise<ProvenRetention> {
  const stored = await findRetention(tx)
  const eventId = await findRetentionEvent(tx)
  const event = (await told.find(tx, [eventId])).get(eventId ?? '')
  const toldRules = rulesToldBy(event)
  const { actor } = event?.details ?? {}
  return {
    rules: inOrder(keepingLonger(stored.rules, toldRules?.rules ?? [])),
    four_eyes: stored.four_eyes || toldRules?.four_eyes === true,
    author: toldRules && typeof actor === 'string' ? actor : undefined,
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

/** The rules that an event tells of; undefined for an event of anything else. */
export function rulesToldBy(event: VerifiedEvent | undefined): RetentionRules | undefined {
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

/** Equal for equal rules in whatever order their members were sent. */
export function textOfRules({ rules, four_eyes }: RetentionRules): string {
  return JSON.stringify([
    four_eyes,
    rules.map(({ record_type, min_days, max_days }) => [record_type, min_days ?? null, max_days ?? null]),
  ])
}

/** What the event of a release says beside the rest: who releases while four eyes are required may never purge. */
export async function fourEyesDetails(tx: TenantTx, told: VerifiedEvents): Promise<JsonObject> {
  const { four_eyes } = await findProvenRetention(tx, told)
  return four_eyes ? { four_eyes } : {}
}

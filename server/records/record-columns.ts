import { microsOfUsd } from '../../contract/money.ts'
import { isJsonObject, type JsonValue } from '../../provenance/json.ts'

/** The author of records that the service writes itself. They record actions and have no content. */
export const serviceSubject = 'service:hub'

/** The copies of canonical members that queries search by. */
export interface IndexColumns {
  skillId: string | null
  archetypeId: string | null
  userId: string | null
  eventKind: string | null
  costMicros: number | null
  traceId: string | null
  sessionId: string | null
}

const none: IndexColumns = {
  ...{ skillId: null, archetypeId: null, userId: null, eventKind: null, costMicros: null },
  ...{ traceId: null, sessionId: null },
}

/**
 * Returns the index columns of a record for its canonical members. Writing and verification share it, so that neither
 * can omit a column. A skill_definition names a skill too, but the interface lets `skill_id` find outputs and telemetry
 * only.
 */
export function indexColumnsOf(recordType: string, members: JsonValue): IndexColumns {
  if (!isJsonObject(members)) return none
  switch (recordType) {
    case 'output':
    case 'telemetry_event':
      return {
        skillId: textOf(members.skill_id),
        archetypeId: textOf(members.archetype_id),
        userId: textOf(members.user_id),
        eventKind: null,
        costMicros: microsOf(members.cost_usd_estimate),
        traceId: recordType === 'telemetry_event' ? textOf(members.trace_id) : null,
        sessionId: recordType === 'telemetry_event' ? textOf(members.session_id) : null,
      }
    case 'governance_event':
      return { ...none, eventKind: textOf(members.event_kind) }
    default:
      return none
  }
}

function textOf(value: JsonValue | undefined): string | null {
  return typeof value === 'string' ? value : null
}

function microsOf(value: JsonValue | undefined): number | null {
  if (typeof value !== 'number') return null
  try {
    return microsOfUsd(value)
  } catch {
    // Only a tampered record contains such an amount; its columns then disagree.
    return null
  }
}

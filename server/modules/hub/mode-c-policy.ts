import { DomainError, type PointedError } from '../../../contract/domain-error.ts'
import { type RecordType, recordTypes } from '../../../contract/literals.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../provenance/json.ts'
import { errorAt } from '../../http/json-violations.ts'

/** All that a Mode C tenant writes: whatever is not named here may be content, which stays in its own cloud. */
const envelopes: Partial<Record<RecordType, ReadonlySet<string>>> = {
  skill_definition: new Set(['record_type', 'skill_id', 'skill_version', 'name', 'owner', 'related_records']),
  governance_event: new Set(['record_type', 'event_kind', 'subject', 'related_records']),
}

/** Enough to mend a request by, however many of its members are refused. */
const namedMax = 100

/**
 * Throws `content-not-allowed` for a body that a Mode C tenant may not send. Comes before the schema of the body, so
 * that content is refused as content whatever else is wrong; what has no known `record_type` is left to the schema.
 */
export function rejectContent(body: JsonValue | undefined): void {
  if (!isJsonObject(body)) return
  const recordType = recordTypes.find((type) => type === body.record_type)
  const errors = recordType === undefined ? [] : contentOf(body, recordType)
  if (errors.length === 0) return
  throw new DomainError(
    'content-not-allowed',
    'A tenant in Mode C writes skill_definition records without description and manifest, and governance_event ' +
      'records without details; telemetry envelopes go to POST /api/v1/telemetry/events.',
    { errors },
  )
}

function contentOf(body: JsonObject, recordType: RecordType): PointedError[] {
  const envelope = envelopes[recordType]
  if (envelope === undefined) {
    return [{ pointer: '/record_type', detail: `names ${recordType} records, which are not taken here in Mode C` }]
  }
  return Object.keys(body)
    .filter((name) => !envelope.has(name))
    .slice(0, namedMax)
    .map((name) => errorAt([name], 'is not taken from a tenant in Mode C'))
}

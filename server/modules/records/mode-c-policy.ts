import { DomainError, type PointedError } from '../../../contract/domain-error.ts'
import { type RecordType, recordTypes } from '../../../contract/literals.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../provenance/json.ts'
import { errorAt } from '../../http/body/json-violations.ts'

/**
 * The members that a Mode C tenant may write. Any other member may be content, which stays in the tenant's own cloud.
 */
const envelopes: Partial<Record<RecordType, ReadonlySet<string>>> = {
  skill_definition: new Set(['record_type', 'skill_id', 'skill_version', 'name', 'owner', 'related_records']),
  governance_event: new Set(['record_type', 'event_kind', 'subject', 'related_records']),
}

/** Maximum number of errors in a response. More do not help to fix the request. */
const namedMax = 100

/**
 * Throws `content-not-allowed` for a body that a Mode C tenant may not send. Runs before schema validation, so that
 * content is refused as content regardless of other errors. A body without a known `record_type` is left to the schema.
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
    return [{ pointer: '/record_type', detail: `names ${recordType} records, which are not allowed in Mode C` }]
  }
  return Object.keys(body)
    .filter((name) => !envelope.has(name))
    .slice(0, namedMax)
    .map((name) => errorAt([name], 'is not allowed in Mode C'))
}

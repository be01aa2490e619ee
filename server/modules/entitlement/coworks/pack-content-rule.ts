import { DomainError, type PointedError } from '../../../../contract/domain-error.ts'
import { isJsonObject, type JsonValue } from '../../../../provenance/json.ts'
import { errorAt } from '../../../http/json-violations.ts'

/** As the skill_definition records of a Mode C tenant. */
const envelope: ReadonlySet<string> = new Set(['skill_id', 'skill_version', 'name', 'owner'])

/** Enough to mend a request by, however many of its members are refused. */
const namedMax = 100

/**
 * Throws `content-not-allowed` for a pack that a Mode C tenant may not send. Comes before the schema of the body, so
 * that content is refused as content whatever else is wrong; what is no list of skills is left to the schema.
 */
export function refusePackContent(body: JsonValue | undefined): void {
  const skills = isJsonObject(body) ? body.skills : undefined
  if (!Array.isArray(skills)) return
  const errors = skills.flatMap((skill, index) => contentOf(skill, index)).slice(0, namedMax)
  if (errors.length === 0) return
  throw new DomainError(
    'content-not-allowed',
    'A pack of a tenant in Mode C has skill_id, skill_version, name and owner of its skills; their descriptions and ' +
      'manifests stay in its own cloud.',
    { errors },
  )
}

function contentOf(skill: JsonValue, index: number): PointedError[] {
  if (!isJsonObject(skill)) return []
  return Object.keys(skill)
    .filter((name) => !envelope.has(name))
    .map((name) => errorAt(['skills', String(index), name], 'is not allowed in Mode C'))
}

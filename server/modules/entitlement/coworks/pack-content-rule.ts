import { DomainError, type PointedError } from '../../../../contract/domain-error.ts'
import { isJsonObject, type JsonValue } from '../../../../provenance/json.ts'
import { errorAt } from '../../../http/body/json-violations.ts'

/** The members that skill_definition records of a Mode C tenant may have. */
const envelope: ReadonlySet<string> = new Set(['skill_id', 'skill_version', 'name', 'owner'])

/** Maximum number of listed errors. */
const namedMax = 100

/**
 * Throws `content-not-allowed` for a pack that a Mode C tenant may not send. Runs before the schema of the body, so
 * that content is rejected as content regardless of other errors. The schema rejects anything that is not a list of
 * skills.
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

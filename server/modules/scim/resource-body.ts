import { scimNameLengthMax } from '../../../contract/limits.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../provenance/json.ts'
import { attributeNamed, extensionNamed } from './attribute-paths.ts'
import { invalid, normalValue } from './attribute-values.ts'
import type { AttributeDefinition, ResourceDefinition } from './schema-types.ts'
import { scimProblem } from './scim-problems.ts'

/**
 * The attributes of a resource that a directory may set, in the spelling of the schema. Those of an extension are below
 * its URN.
 */
export type ResourceAttributes = Record<string, JsonValue>

/** Excludes members of groups, which are stored separately from the group. */
const kept = (attribute: AttributeDefinition) => attribute.mutability !== 'readOnly' && attribute.name !== 'members'

/**
 * Reads the body of POST and PUT, with attributes at its top or below the URN of the core schema. Ignores unknown
 * attributes, `id`, `meta`, `groups` and passwords (RFC 7644, sections 3.3 and 3.5.1).
 *
 * @throws DomainError 400 with scimType `invalidSyntax` or `invalidValue`
 */
export function readResource(resource: ResourceDefinition, body: unknown): ResourceAttributes {
  const members = objectOf(body)
  checkSchemas(resource, members)
  const attributes: ResourceAttributes = {}
  const core = memberNamed(members, resource.schema.id)
  if (core !== undefined && core !== null) {
    readAttributes(resource.schema.attributes, objectOf(core, resource.schema.id), attributes)
  }
  readAttributes(resource.schema.attributes, members, attributes)
  for (const schema of resource.extensions) {
    const extension = memberNamed(members, schema.id)
    if (extension === undefined || extension === null) continue
    const below: ResourceAttributes = {}
    readAttributes(schema.attributes, objectOf(extension, schema.id), below)
    if (Object.keys(below).length > 0) attributes[schema.id] = below
  }
  return attributes
}

/** Returns the ids in `members` of a group's body, or undefined without that member. */
export function readMembers(resource: ResourceDefinition, body: unknown): string[] | undefined {
  const members = objectOf(body)
  const core = memberNamed(members, resource.schema.id)
  const value = memberNamed(members, 'members') ?? (isJsonObject(core) ? memberNamed(core, 'members') : undefined)
  return value === undefined ? undefined : memberIds(value)
}

/**
 * Returns the ids in a value of `members`: `[{value: id}]`, one such object, or plain ids.
 *
 * @throws DomainError 400 with scimType `invalidValue`
 */
export function memberIds(value: JsonValue): string[] {
  if (value === null) return []
  const values = Array.isArray(value) ? (value as readonly JsonValue[]) : [value]
  return values.map((each) => {
    const id = isJsonObject(each) ? memberNamed(each, 'value') : each
    if (typeof id !== 'string' || id === '')
      throw invalid({ name: 'members' }, 'must have values with the id of a user')
    return id
  })
}

/** Rejects a resource whose name is missing or too long; scimType as in RFC 7644, table 9. */
export function checkNames(resource: ResourceDefinition, attributes: ResourceAttributes): void {
  const required = resource.schema.attributes.find((attribute) => attribute.required)?.name ?? ''
  const name = attributes[required]
  if (name === undefined) throw scimProblem('invalidSyntax', `The resource has no ${required}.`)
  for (const each of new Set([required, 'externalId', 'userName', 'displayName'])) {
    const value = attributes[each]
    if (typeof value === 'string' && value.length > scimNameLengthMax) {
      throw invalid({ name: each }, `must have at most ${scimNameLengthMax} characters`)
    }
  }
  if (typeof name !== 'string' || name.trim() === '') throw invalid({ name: required }, 'must not be empty')
}

function readAttributes(list: readonly AttributeDefinition[], members: JsonObject, into: ResourceAttributes): void {
  const seen = new Set<string>()
  for (const [name, value] of Object.entries(members)) {
    const attribute = attributeNamed(list, name)
    if (!attribute || !kept(attribute)) continue
    if (seen.has(attribute.name)) {
      throw scimProblem('invalidSyntax', `The attribute ${attribute.name} occurs twice, in different spellings.`)
    }
    seen.add(attribute.name)
    const normal = normalValue(attribute, value)
    if (normal !== undefined) into[attribute.name] = normal
  }
}

/**
 * Checks `schemas`. It is optional, since the address determines the schemas; if sent, it must include the core schema.
 */
function checkSchemas(resource: ResourceDefinition, members: JsonObject): void {
  const schemas = memberNamed(members, 'schemas')
  if (schemas === undefined || schemas === null) return
  const list = Array.isArray(schemas) ? (schemas as readonly JsonValue[]) : undefined
  if (!list?.every((each) => typeof each === 'string')) {
    throw scimProblem('invalidSyntax', 'schemas must be a list of URNs.')
  }
  const known = (each: JsonValue) =>
    typeof each === 'string' &&
    (each.toLowerCase() === resource.schema.id.toLowerCase() || extensionNamed(resource, each) !== undefined)
  if (list.length > 0 && !list.some(known)) {
    throw scimProblem('invalidSyntax', `schemas must have ${resource.schema.id}.`)
  }
}

/** Returns a member by its name, ignoring case. */
export function memberNamed(members: JsonObject, name: string): JsonValue | undefined {
  if (Object.hasOwn(members, name)) return members[name]
  const lower = name.toLowerCase()
  const found = Object.keys(members).find((each) => each.toLowerCase() === lower)
  return found === undefined ? undefined : members[found]
}

export function objectOf(value: unknown, name = 'The body'): JsonObject {
  if (!isJsonObject(value)) throw scimProblem('invalidSyntax', `${name} must be a JSON object.`)
  return value
}

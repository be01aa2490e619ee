import { scimPatchOperationsMax } from '../../../contract/limits.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../provenance/json.ts'
import { extensionNamed } from './attribute-paths.ts'
import { type PatchPath, parsePatchPath } from './patch-path.ts'
import { PatchWork } from './patch-work.ts'
import { memberNamed, objectOf } from './resource-body.ts'
import type { ResourceDefinition } from './schema-types.ts'
import { scimProblem } from './scim-problems.ts'
import { messageSchemas } from './scim-schemas.ts'

/** One change of one attribute. */
export interface PatchStep {
  op: 'add' | 'replace' | 'remove'
  path: PatchPath
  /** Undefined for a remove without a value. */
  value: JsonValue | undefined
}

/**
 * Reads the body of PATCH (RFC 7644, section 3.5.2) into steps. An operation without a path becomes one step for each
 * member of its value, whose names may be paths, as Entra sends them: `name.givenName`,
 * `urn:…:enterprise:2.0:User:department`. Among these, unknown and read-only attributes are ignored. An explicit path
 * to an unknown attribute is ignored if it has a URN, and rejected otherwise.
 *
 * @param id of the resource, which Okta repeats in the value
 * @throws DomainError 400 with scimType `invalidSyntax`, `invalidPath`, `noTarget`, `mutability` or `tooMany`
 */
export function readPatch(resource: ResourceDefinition, id: string, body: unknown): PatchStep[] {
  const members = objectOf(body)
  const schemas = memberNamed(members, 'schemas')
  if (schemas !== undefined && !(Array.isArray(schemas) && schemas.some(isPatchSchema))) {
    throw scimProblem('invalidSyntax', `schemas must have ${messageSchemas.patch}.`)
  }
  const operations = memberNamed(members, 'Operations')
  if (!Array.isArray(operations) || operations.length === 0) {
    throw scimProblem('invalidSyntax', 'Operations must be a list with at least one operation.')
  }
  if (operations.length > scimPatchOperationsMax) {
    throw scimProblem('invalidSyntax', `Operations must have at most ${scimPatchOperationsMax} operations.`)
  }
  const work = new PatchWork()
  return (operations as readonly JsonValue[]).flatMap((each) =>
    stepsOf(resource, id, objectOf(each, 'An operation'), work),
  )
}

function isPatchSchema(schema: unknown): boolean {
  return typeof schema === 'string' && schema.toLowerCase() === messageSchemas.patch.toLowerCase()
}

function stepsOf(resource: ResourceDefinition, id: string, operation: JsonObject, work: PatchWork): PatchStep[] {
  const op = opOf(memberNamed(operation, 'op'))
  const path = memberNamed(operation, 'path')
  const value = memberNamed(operation, 'value')
  if (op !== 'remove' && value === undefined) {
    throw scimProblem('invalidSyntax', `An operation ${op} needs a value.`)
  }
  if (path === undefined || path === null || path === '') {
    if (op === 'remove') throw scimProblem('noTarget', 'An operation remove needs a path.')
    if (!isJsonObject(value)) {
      throw scimProblem(
        'invalidSyntax',
        `An operation ${op} without a path needs an object of attributes as its value.`,
      )
    }
    return stepsWithoutPath(resource, id, op, value, work)
  }
  if (typeof path !== 'string') throw scimProblem('invalidPath', 'The path of an operation must be a string.')
  work.spendPath(path)
  const schema = schemaNamed(resource, path)
  // A path to a whole extension stands for its attributes.
  if (schema && isJsonObject(value)) return stepsBelow(resource, id, op, schema.id, value, work)
  if (schema && op === 'remove')
    return schema.attributes.map(({ name }) => stepOf(resource, op, `${schema.id}:${name}`))
  const found = parsePatchPath(resource, path)
  if (found) {
    checkMutable(found)
    return [{ op, path: found, value }]
  }
  if (/^urn:/i.test(path)) return []
  throw scimProblem('noTarget', `There is no attribute ${JSON.stringify(path.slice(0, 100))}.`)
}

function stepsWithoutPath(
  resource: ResourceDefinition,
  id: string,
  op: PatchStep['op'],
  value: JsonObject,
  work: PatchWork,
): PatchStep[] {
  for (const name of Object.keys(value)) work.spendPath(name)
  return Object.entries(value).flatMap(([name, part]): PatchStep[] => {
    const schema = schemaNamed(resource, name)
    if (schema) return isJsonObject(part) ? stepsBelow(resource, id, op, schema.id, part, work) : []
    const path = parsePatchPath(resource, name)
    if (!path) return []
    if (path.attribute.name === 'id' && part !== id) throw unchangeable('id')
    return isReadOnly(path) ? [] : [{ op, path, value: part }]
  })
}

function stepsBelow(
  resource: ResourceDefinition,
  id: string,
  op: PatchStep['op'],
  schemaId: string,
  value: JsonObject,
  work: PatchWork,
): PatchStep[] {
  for (const name of Object.keys(value)) work.spendPath(name)
  const qualified = Object.entries(value).map(([name, part]) => [`${schemaId}:${name}`, part] as const)
  return stepsWithoutPath(resource, id, op, Object.fromEntries(qualified), work)
}

function stepOf(resource: ResourceDefinition, op: PatchStep['op'], path: string): PatchStep {
  return { op, path: parsePatchPath(resource, path) as PatchPath, value: undefined }
}

function schemaNamed(resource: ResourceDefinition, text: string) {
  return text.toLowerCase() === resource.schema.id.toLowerCase() ? resource.schema : extensionNamed(resource, text)
}

/** Reads the operation in any case: Entra sends `Add`, `Replace` and `Remove`. */
function opOf(value: JsonValue | undefined): PatchStep['op'] {
  const op = typeof value === 'string' ? value.toLowerCase() : undefined
  if (op === 'add' || op === 'replace' || op === 'remove') return op
  throw scimProblem('invalidSyntax', 'The op of an operation must be add, replace or remove.')
}

function checkMutable(path: PatchPath): void {
  if (isReadOnly(path)) throw unchangeable(path.attribute.name)
  const ofMembers = path.attribute.name === 'members'
  if (ofMembers && path.sub) throw unchangeable('members.value')
}

function isReadOnly({ attribute, sub }: PatchPath): boolean {
  return attribute.mutability === 'readOnly' || sub?.mutability === 'readOnly'
}

function unchangeable(name: string) {
  return scimProblem('mutability', `The attribute ${name} cannot be changed.`)
}

import type { ErrorObject } from 'ajv'
import type { PointedError } from '../../contract/domain-error.ts'
import { patternWords } from '../../contract/literals.ts'
import { errorAt } from './body/json-violations.ts'

interface Annotated {
  'x-must-be'?: string
  type?: string | string[]
  oneOf?: { properties?: Record<string, { const?: unknown; enum?: unknown[] }> }[]
  anyOf?: { const?: unknown; type?: string }[]
}

/**
 * Describes an error of the validator at its place: a missing member at the path it should have, an unknown one at its
 * own. Returns nothing for errors that only repeat those of their branches.
 */
export function describeSchemaError(error: ErrorObject, prefix: string): PointedError[] {
  const at = (detail: string, member?: string): PointedError[] => [
    errorAt(member === undefined ? [] : [member], detail, `${prefix}${error.instancePath}`),
  ]
  const schema = (error.parentSchema ?? {}) as Annotated
  const params = error.params as Record<string, unknown>
  switch (error.keyword) {
    case 'required':
      return at('is required', String(params.missingProperty))
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return at(unknownMember(prefix), String(params.additionalProperty ?? params.unevaluatedProperty))
    case 'discriminator':
      return at(mustBe(schema, `one of ${tagsOf(schema, String(params.tag))}`), String(params.tag))
    case 'const':
      return at(mustBe(schema, JSON.stringify(params.allowedValue)))
    case 'enum':
      return at(mustBe(schema, `one of ${listOf(params.allowedValues as unknown[])}`))
    case 'anyOf':
    case 'oneOf':
      return at(mustBe(schema, unionOf(schema) ?? 'one of the shapes that the API description names'))
    case 'if':
      return []
    default:
      return at(describeValueError(error, schema))
  }
}

function describeValueError(error: ErrorObject, schema: Annotated): string {
  const { limit, type, format, multipleOf } = error.params as Record<string, unknown>
  switch (error.keyword) {
    case 'type':
      // Other faults of an object belong to its members.
      return type === 'object' ? 'must be an object' : mustBe(schema, withArticle(type as string | string[]))
    case 'minLength':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`
    case 'maxLength':
      return `must have at most ${limit} characters`
    case 'minItems':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} items`
    case 'maxItems':
      return `must have at most ${limit} items`
    case 'maxProperties':
      return `must have at most ${limit} members`
    case 'minProperties':
      return `must have at least ${limit} members`
    case 'uniqueItems':
      return 'must not have the same item twice'
    case 'minimum':
      return `must be at least ${limit}`
    case 'maximum':
      return `must be at most ${limit}`
    case 'exclusiveMinimum':
      return `must be greater than ${limit}`
    case 'exclusiveMaximum':
      return `must be less than ${limit}`
    case 'multipleOf':
      return `must be a multiple of ${multipleOf}`
    case 'format':
      return mustBe(schema, formatNames[String(format)] ?? `of the format ${format}`)
    case 'pattern':
      return mustBe(schema, wordsOf(String(error.params.pattern)))
    default:
      return error.message ?? 'is not valid'
  }
}

const formatNames: Record<string, string> = {
  uuid: 'a UUID',
  'date-time': 'an RFC 3339 timestamp with a time zone, such as 2026-01-31T12:00:00Z',
  date: 'a date, such as 2026-01-31',
  uri: 'an absolute URI',
  email: 'an e-mail address',
}

function mustBe(schema: Annotated, otherwise: string): string {
  return `must be ${schema['x-must-be'] ?? otherwise}`
}

function wordsOf(pattern: string): string {
  return patternWords[pattern] ?? `text of the form ${pattern}`
}

function unknownMember(prefix: string): string {
  if (prefix === '/query') return 'is not a known query parameter'
  return 'is not a known property'
}

function withArticle(type: string | string[]): string {
  const names: Record<string, string> = {
    string: 'a string',
    number: 'a number',
    integer: 'an integer',
    boolean: 'true or false',
    array: 'an array',
    object: 'an object',
    null: 'null',
  }
  return (Array.isArray(type) ? type : [type]).map((each) => names[each] ?? each).join(' or ')
}

function listOf(values: unknown[]): string {
  return values.map((value) => JSON.stringify(value)).join(', ')
}

function tagsOf(schema: Annotated, tag: string): string {
  return listOf(
    (schema.oneOf ?? []).flatMap((branch) => branch.properties?.[tag]?.const ?? branch.properties?.[tag]?.enum ?? []),
  )
}

/** Describes a union by its literals and types; returns undefined if a branch is more complex. */
function unionOf(schema: Annotated): string | undefined {
  const branches = schema.anyOf ?? schema.oneOf ?? []
  const words = branches.map((branch: { const?: unknown; type?: string; properties?: unknown }) => {
    if (branch.const !== undefined) return JSON.stringify(branch.const)
    return branch.type && branch.type !== 'object' ? withArticle(branch.type) : undefined
  })
  if (words.length === 0 || words.includes(undefined)) return undefined
  const isEnumeration = branches.every((branch) => 'const' in branch)
  return isEnumeration ? `one of ${words.join(', ')}` : words.join(' or ')
}

import { scimValuesMax } from '../../../contract/limits.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../provenance/json.ts'
import { attributeNamed } from './attribute-paths.ts'
import type { AttributeDefinition } from './schema-types.ts'
import { scimProblem } from './scim-problems.ts'

/**
 * Returns a value in its stored form: with the spelling and types of the schema, without unknown parts. Accepts
 * variants that Entra sends: booleans as text, a single value for a list, text for an object with `value`.
 *
 * @returns undefined for null and for empty lists: the attribute is unassigned (RFC 7643, section 2.5)
 * @throws DomainError 400 with scimType `invalidValue`
 */
export function normalValue(attribute: AttributeDefinition, value: JsonValue): JsonValue | undefined {
  if (value === null) return undefined
  if (!attribute.multiValued) return normalSingle(attribute, singleOf(attribute, value))
  const values = Array.isArray(value) ? (value as readonly JsonValue[]) : [value]
  if (values.length > scimValuesMax) {
    throw invalid(attribute, `must have at most ${scimValuesMax} values`)
  }
  const normal = values.map((each) => normalSingle(attribute, each)).filter((each) => each !== undefined)
  checkPrimary(attribute, normal)
  return normal.length === 0 ? undefined : normal
}

/** Returns one value of the attribute, multi-valued or not, in its stored form. */
export function normalSingle(attribute: AttributeDefinition, value: JsonValue): JsonValue | undefined {
  if (value === null) return undefined
  if (attribute.type === 'complex') return normalComplex(attribute, value)
  if (attribute.type === 'boolean') return normalBoolean(attribute, value)
  if (typeof value !== 'string') throw invalid(attribute, 'must be a string')
  return value
}

/** Checks that at most one value is primary (RFC 7643, section 2.4). */
export function checkPrimary(attribute: AttributeDefinition, values: readonly JsonValue[]): void {
  if (values.filter(isPrimary).length > 1) throw invalid(attribute, 'must have at most one primary value')
}

export function isPrimary(value: JsonValue): boolean {
  return isJsonObject(value) && value.primary === true
}

export function invalid(attribute: { name: string }, detail: string) {
  return scimProblem('invalidValue', `The attribute ${attribute.name} ${detail}.`)
}

/** Unwraps a list of one: some clients send that for a single-valued attribute. */
function singleOf(attribute: AttributeDefinition, value: JsonValue): JsonValue {
  if (!Array.isArray(value)) return value
  const values = value as readonly JsonValue[]
  if (values.length > 1) throw invalid(attribute, 'has one value, not a list')
  return values[0] ?? null
}

function normalComplex(attribute: AttributeDefinition, value: JsonValue): JsonObject | undefined {
  if (!isJsonObject(value)) {
    if (typeof value === 'string' && attributeNamed(attribute.subAttributes, 'value')) return { value }
    throw invalid(attribute, 'must be an object')
  }
  const parts: Record<string, JsonValue> = {}
  for (const [name, part] of Object.entries(value)) {
    const sub = attributeNamed(attribute.subAttributes, name)
    const normal = sub && normalSingle(sub, part)
    if (sub && normal !== undefined) parts[sub.name] = normal
  }
  return Object.keys(parts).length === 0 ? undefined : parts
}

function normalBoolean(attribute: AttributeDefinition, value: JsonValue): boolean {
  if (typeof value === 'boolean') return value
  if (typeof value === 'string' && /^(true|false)$/i.test(value)) return value.toLowerCase() === 'true'
  throw invalid(attribute, 'must be true or false')
}

import { scimValuesMax } from '../../../contract/limits.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../provenance/json.ts'
import { attributeNamed } from './attribute-paths.ts'
import type { AttributeDefinition } from './schema-types.ts'
import { scimProblem } from './scim-problems.ts'

/**
 * A value as it is kept: in the spelling of the schema, of its types, without what the schema does not have. Entra's ways
 * are understood: booleans as text, one value where a list belongs, text where an object with `value` belongs.
 *
 * @returns undefined for null and for empty lists: the attribute is not assigned (RFC 7643, section 2.5)
 * @throws DomainError 400 with scimType `invalidValue`
 */
export function normalValue(attribute: AttributeDefinition, value: JsonValue): JsonValue | undefined {
  if (value === null) return undefined
  if (!attribute.multiValued) return normalSingle(attribute, singleOf(attribute, value))
  const values = Array.isArray(value) ? (value as readonly JsonValue[]) : [value]
  if (values.length > scimValuesMax) {
    throw invalid(attribute, `must have ${scimValuesMax} values at most`)
  }
  const normal = values.map((each) => normalSingle(attribute, each)).filter((each) => each !== undefined)
  checkPrimary(attribute, normal)
  return normal.length === 0 ? undefined : normal
}

/** One value of the attribute, multi-valued or not. */
export function normalSingle(attribute: AttributeDefinition, value: JsonValue): JsonValue | undefined {
  if (value === null) return undefined
  if (attribute.type === 'complex') return normalComplex(attribute, value)
  if (attribute.type === 'boolean') return normalBoolean(attribute, value)
  if (typeof value !== 'string') throw invalid(attribute, 'must be a string')
  return value
}

/** At most one value is the primary one (RFC 7643, section 2.4). */
export function checkPrimary(attribute: AttributeDefinition, values: readonly JsonValue[]): void {
  if (values.filter(isPrimary).length > 1) throw invalid(attribute, 'must have one primary value at most')
}

export function isPrimary(value: JsonValue): boolean {
  return isJsonObject(value) && value.primary === true
}

export function invalid(attribute: { name: string }, detail: string) {
  return scimProblem('invalidValue', `The attribute ${attribute.name} ${detail}.`)
}

/** Some clients send a list of one for what has one value. */
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

import { isJsonObject, type JsonValue } from '../../../provenance/json.ts'
import type { CompareOperator, DirectoryFilter, DirectoryPath } from '../roster/directory/directory-types.ts'
import { attributeNamed } from './attribute-paths.ts'
import type { AttributeDefinition } from './schema-types.ts'

/**
 * Returns whether a filter selects one value of a multi-valued attribute. The filter is at most `scimFilterDepthMax`
 * deep, so recursion is safe.
 */
export function matchesValue(attribute: AttributeDefinition, filter: DirectoryFilter, value: JsonValue): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.terms.every((term) => matchesValue(attribute, term, value))
    case 'or':
      return filter.terms.some((term) => matchesValue(attribute, term, value))
    case 'not':
      return !matchesValue(attribute, filter.term, value)
    case 'present':
      return isPresent(partOf(attribute, filter.path, value))
    case 'compare':
      return compare(attribute, filter, value)
    case 'some':
      return false
  }
}

/** Returns the equalities that a value must meet, or undefined if the filter contains any other term. */
export function equalitiesOf(filter: DirectoryFilter): { path: DirectoryPath; value: JsonValue }[] | undefined {
  if (filter.kind === 'compare' && filter.operator === 'eq') return [{ path: filter.path, value: filter.value }]
  if (filter.kind !== 'and') return undefined
  const parts = filter.terms.map(equalitiesOf)
  return parts.includes(undefined) ? undefined : parts.flatMap((part) => part ?? [])
}

function partOf(attribute: AttributeDefinition, [name = '']: DirectoryPath, value: JsonValue): JsonValue | undefined {
  const sub = attributeNamed(attribute.subAttributes, name)
  return sub && isJsonObject(value) ? value[sub.name] : undefined
}

function isPresent(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null && value !== ''
}

function compare(
  attribute: AttributeDefinition,
  { path, operator, value: wanted }: DirectoryFilter & { kind: 'compare' },
  value: JsonValue,
): boolean {
  const found = partOf(attribute, path, value)
  if (wanted === null) return isPresent(found) === (operator === 'ne')
  if (found === undefined || found === null) {
    // An absent `primary` counts as false (RFC 7643, section 2.4).
    if (wanted === false && operator === 'eq') return true
    return operator === 'ne'
  }
  if (typeof found !== 'string' || typeof wanted !== 'string') {
    return operator === 'eq' ? found === wanted : operator === 'ne' && found !== wanted
  }
  const { caseExact = false } = attributeNamed(attribute.subAttributes, path[0] ?? '') ?? {}
  const fold = (text: string) => (caseExact ? text : text.toLowerCase())
  return compareText(operator, fold(found), fold(wanted))
}

function compareText(operator: CompareOperator, found: string, wanted: string): boolean {
  switch (operator) {
    case 'eq':
      return found === wanted
    case 'ne':
      return found !== wanted
    case 'co':
      return found.includes(wanted)
    case 'sw':
      return found.startsWith(wanted)
    case 'ew':
      return found.endsWith(wanted)
    case 'gt':
      return found > wanted
    case 'ge':
      return found >= wanted
    case 'lt':
      return found < wanted
    case 'le':
      return found <= wanted
  }
}

import type { CompareOperator } from '../roster/directory/directory-types.ts'
import type { AttributePath } from './attribute-paths.ts'
import { FilterSyntaxError, type FilterToken } from './filter-tokens.ts'

const ofText: ReadonlySet<CompareOperator> = new Set(['co', 'sw', 'ew'])
const ofOrder: ReadonlySet<CompareOperator> = new Set(['gt', 'ge', 'lt', 'le'])
const moment = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/i

/**
 * Returns the value of a comparison, checked against the type of the attribute. Booleans may be text, as Entra sends
 * them.
 *
 * @throws FilterSyntaxError
 */
export function comparisonOf(
  path: AttributePath,
  operator: CompareOperator,
  token: FilterToken | undefined,
): string | number | boolean | null {
  const { type, name } = path.sub ?? path.attribute
  const value = literalOf(token)
  if (value === null) {
    if (operator === 'eq' || operator === 'ne') return null
    throw new FilterSyntaxError(`null can be compared by eq and ne only`)
  }
  if (type === 'boolean') {
    if (ofText.has(operator) || ofOrder.has(operator)) {
      throw new FilterSyntaxError(`${name} is true or false, and can be compared by eq and ne only`)
    }
    if (typeof value === 'boolean') return value
    if (typeof value === 'string' && /^(true|false)$/i.test(value)) return value.toLowerCase() === 'true'
    throw new FilterSyntaxError(`${name} can be compared with true and false only`)
  }
  if (typeof value !== 'string') throw new FilterSyntaxError(`${name} is text, so the value needs quotation marks`)
  if (type === 'dateTime') {
    if (ofText.has(operator)) throw new FilterSyntaxError(`${name} is a time, and has no beginning or end`)
    if (!moment.test(value) || Number.isNaN(Date.parse(value))) {
      throw new FilterSyntaxError(`${name} can be compared with times such as "2026-11-21T08:00:00Z" only`)
    }
  }
  return value
}

function literalOf(token: FilterToken | undefined): string | number | boolean | null {
  if (token?.kind === 'literal') return token.value
  const word = token?.kind === 'word' ? token.text.toLowerCase() : ''
  if (word === 'true' || word === 'false') return word === 'true'
  if (word === 'null') return null
  throw new FilterSyntaxError('a comparison has no value: text in quotation marks, true, false or null')
}

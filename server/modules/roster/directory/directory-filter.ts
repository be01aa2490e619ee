import { parseTimestamp } from '../../../../contract/timestamp.ts'
import { type Attribute, type AttributeTable, attributeAt, type ManySource } from './directory-attributes.ts'
import { nameKey } from './directory-names.ts'
import type { CompareOperator, DirectoryFilter, DirectoryPath } from './directory-types.ts'

type Value = string | number | boolean | null

const orders: Partial<Record<CompareOperator, string>> = { gt: '>', ge: '>=', lt: '<', le: '<=' }

/**
 * Returns a filter (RFC 7644, section 3.4.2.2) as an SQL condition that is true or false, never null. Values go into
 * `values` as parameters; the text comes from the attribute table alone. `ne` is the negation of `eq`. A meaningless
 * comparison, such as a number with a text, is false.
 *
 * @param values the parameters of the statement so far; the function appends to it
 */
export function filterSql(table: AttributeTable, filter: DirectoryFilter, values: unknown[]): string {
  switch (filter.kind) {
    case 'and':
      return joined(filter.terms, ' and ', 'true')
    case 'or':
      return joined(filter.terms, ' or ', 'false')
    case 'not':
      return `(not ${filterSql(table, filter.term, values)})`
    case 'some': {
      const attribute = table.get(filter.path.join('.'))
      if (attribute?.kind !== 'many') return 'false'
      return existsSql(attribute.source, filterSql(attribute.source.parts, filter.filter, values))
    }
    case 'present':
      return presentSql(table, filter.path)
    case 'compare':
      return compareSql(table, filter, values)
  }

  function joined(terms: readonly DirectoryFilter[], operator: string, empty: string): string {
    if (terms.length === 0) return empty
    return `(${terms.map((term) => filterSql(table, term, values)).join(operator)})`
  }
}

function compareSql(
  table: AttributeTable,
  { path, operator, value }: Extract<DirectoryFilter, { kind: 'compare' }>,
  values: unknown[],
): string {
  if (operator === 'ne') return `(not ${compareSql(table, { kind: 'compare', path, operator: 'eq', value }, values)})`
  // Null stands for an unassigned attribute (RFC 7643, section 2.5).
  if (value === null) return operator === 'eq' ? `(not ${presentSql(table, path)})` : 'false'
  const found = attributeAt(table, path)
  if (!found) return 'false'
  const condition = conditionSql(found.attribute, operator, value, values)
  return found.inside ? existsSql(found.inside, condition) : condition
}

function presentSql(table: AttributeTable, path: DirectoryPath): string {
  const found = attributeAt(table, path)
  if (!found) return 'false'
  const { attribute, inside } = found
  if (inside && table.get(path.join('.'))?.kind === 'many') return existsSql(inside, 'true')
  const condition = isPresent(attribute)
  return inside ? existsSql(inside, condition) : condition
}

function isPresent(attribute: Attribute): string {
  if (attribute.kind === 'many') return existsSql(attribute.source, 'true')
  if (attribute.kind === 'complex') return `coalesce(${attribute.sql} not in ('{}'::jsonb, 'null'::jsonb), false)`
  if (attribute.kind === 'text') return `coalesce(${attribute.sql} <> '', false)`
  return `(${attribute.sql} is not null)`
}

function existsSql({ from }: ManySource, condition: string): string {
  return `exists (select from ${from} ${/ where /.test(from) ? 'and' : 'where'} ${condition})`
}

function conditionSql(attribute: Attribute, operator: CompareOperator, value: Value, values: unknown[]): string {
  switch (attribute.kind) {
    case 'text':
      return typeof value === 'string' ? textSql(attribute, operator, value, values) : 'false'
    case 'boolean': {
      // Some directories send booleans as strings.
      const wanted = typeof value === 'string' ? value.toLowerCase() : value
      if (operator !== 'eq' || !['true', 'false', true, false].includes(wanted as string | boolean)) return 'false'
      const isTrue = `coalesce(${attribute.sql}, false)`
      return String(wanted) === 'true' ? isTrue : `(not ${isTrue})`
    }
    case 'time': {
      const time = typeof value === 'string' ? parseTimestamp(value) : undefined
      const sign = operator === 'eq' ? '=' : orders[operator]
      return time && sign ? `(${attribute.sql} ${sign} ${parameter(values, time.text)}::timestamptz)` : 'false'
    }
    default:
      return 'false'
  }
}

function textSql(
  { sql, exact, key }: Extract<Attribute, { kind: 'text' }>,
  operator: CompareOperator,
  value: string,
  values: unknown[],
): string {
  // PostgreSQL cannot store such text.
  if (value.includes('\0')) return 'false'
  const given = parameter(values, key === undefined ? value : nameKey(value))
  const mine = key ?? (exact ? sql : `lower(${sql})`)
  const theirs = key !== undefined || exact ? `${given}::text` : `lower(${given}::text)`
  // The null check comes first, so that the condition is never null and an index still serves it.
  return `(${sql} is not null and ${conditionOf()})`

  function conditionOf(): string {
    switch (operator) {
      case 'eq':
      case 'ne':
        return `${mine} = ${theirs}`
      case 'co':
        return `strpos(${mine}, ${theirs}) > 0`
      case 'sw':
        return `starts_with(${mine}, ${theirs})`
      case 'ew':
        return `right(${mine}, length(${theirs})) = ${theirs}`
      default:
        return `${mine} collate "C" ${orders[operator]} ${theirs}`
    }
  }
}

/**
 * Returns the sort expression (RFC 7644, section 3.4.2.3). Resources without a value come last, or first in descending
 * order.
 */
export function sortSql(table: AttributeTable, sort: { path: DirectoryPath; descending: boolean }): string | undefined {
  const found = attributeAt(table, sort.path)
  if (!found) return undefined
  const { attribute, inside } = found
  const direction = sort.descending ? 'desc nulls first' : 'asc nulls last'
  if (inside) return `lower(${inside.sortSql}) collate "C" ${direction}`
  if (attribute.kind === 'text') {
    return `${attribute.key ?? (attribute.exact ? attribute.sql : `lower(${attribute.sql})`)} collate "C" ${direction}`
  }
  return attribute.kind === 'boolean' || attribute.kind === 'time' ? `${attribute.sql} ${direction}` : undefined
}

function parameter(values: unknown[], value: unknown): string {
  values.push(value)
  return `$${values.length}`
}

import { pageSizeMax, scimPageSizeDefault } from '../../../contract/limits.ts'
import type { DirectoryQuery } from '../roster/directory/directory-types.ts'
import { attributeNamed, findAttribute } from './attribute-paths.ts'
import { directoryPath, parseFilter } from './filter-parser.ts'
import type { ResourceDefinition } from './schema-types.ts'
import { scimProblem } from './scim-problems.ts'

export interface ListQuery extends DirectoryQuery {
  /** Index of the first result, from 1. */
  startIndex: number
}

/** The parameters of a list, from the address or from `.search`. Numbers may be text. */
export interface ListParameters {
  filter?: unknown
  sortBy?: unknown
  sortOrder?: unknown
  startIndex?: unknown
  count?: unknown
}

/** Maximum start index: larger than any directory, and small enough for the database. */
const startIndexMax = 1_000_000_000

/**
 * Reads filter, order and page of a list (RFC 7644, section 3.4.2). A page has at most 1,000 resources; defaults to
 * 100.
 *
 * @throws DomainError 400 with scimType `invalidFilter`, `invalidPath` or `invalidValue`
 */
export function readListQuery(resource: ResourceDefinition, parameters: ListParameters): ListQuery {
  const filter = textOf('filter', parameters.filter)
  const startIndex = Math.min(Math.max(integerOf('startIndex', parameters.startIndex) ?? 1, 1), startIndexMax)
  const count = Math.min(Math.max(integerOf('count', parameters.count) ?? scimPageSizeDefault, 0), pageSizeMax)
  return {
    ...(filter !== undefined && { filter: parseFilter(resource, filter) }),
    ...sortOf(resource, textOf('sortBy', parameters.sortBy), textOf('sortOrder', parameters.sortOrder)),
    startIndex,
    offset: startIndex - 1,
    count,
  }
}

function sortOf(
  resource: ResourceDefinition,
  by: string | undefined,
  order: string | undefined,
): Pick<ListQuery, 'sort'> {
  const direction = order?.toLowerCase() ?? 'ascending'
  if (direction !== 'ascending' && direction !== 'descending') {
    throw scimProblem('invalidValue', 'sortOrder must be ascending or descending.')
  }
  if (by === undefined || by === '') return {}
  const path = findAttribute(resource, by)
  if (!path) throw scimProblem('invalidPath', `sortBy names no attribute: ${JSON.stringify(by.slice(0, 100))}.`)
  const { subAttributes } = path.attribute
  if (subAttributes && !path.sub) {
    const value = attributeNamed(subAttributes, 'value')
    if (!value) throw scimProblem('invalidPath', `${path.attribute.name} has parts; sort by one of them.`)
    path.sub = value
  }
  return { sort: { path: directoryPath(path), descending: direction === 'descending' } }
}

/** Returns the text of a parameter that occurs at most once. */
export function textOf(name: string, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string') return value
  throw scimProblem('invalidValue', `${name} must be given exactly once, as text in UTF-8.`)
}

function integerOf(name: string, value: unknown): number | undefined {
  if (value === undefined || value === null || value === '') return undefined
  const isInteger = typeof value === 'number' ? Number.isSafeInteger(value) : /^-?\d{1,15}$/.test(String(value))
  if (!isInteger || Array.isArray(value)) throw scimProblem('invalidValue', `${name} must be an integer.`)
  return Number(value)
}

import type { PagePosition, PageRequest, RecordCriteria, RecordSort } from './record-query-types.ts'

/** The rows of a page and their order, as parts of its statement. */
interface PageRows {
  conditions: string[]
  order: string
  /** Whether only one index can provide the order, so that values do not influence the plan. */
  isSteered: boolean
  values: unknown[]
  /** Adds a value and returns its placeholder. */
  parameter: (value: unknown) => string
}

type Column =
  | ('record_id' | 'record_type' | 'skill_id' | 'archetype_id' | 'user_id' | 'created_by' | 'event_kind')
  | ('trace_id' | 'session_id')

/**
 * Returns the rows of a page, in the order of an index that begins where the page does. A page by time with one filter
 * is steered to the index of that filter by requesting exactly that index's order. The planner does not know how rare a
 * value is in one tenant, and would sometimes scan all records in id order instead.
 */
export function rowsOf(tenantId: string, criteria: RecordCriteria, page: PageRequest): PageRows {
  const values: unknown[] = [tenantId]
  const parameter = (value: unknown) => `$${values.push(value)}`
  const conditions = [
    'r.tenant_id = $1',
    `(s.hard_delete_after is null or s.hard_delete_after > ${parameter(page.now)}::timestamptz)`,
  ]
  if (!criteria.includePurged) conditions.push('s.purged_at is null')
  if (criteria.recordTypes !== undefined && criteria.recordTypes.length !== 1) {
    conditions.push(`r.record_type = any(${parameter(criteria.recordTypes)}::text[])`)
  }
  const bounds = boundsOf(criteria, page, parameter)
  const filters = filtersOf(criteria)
  const steering = isByCost(page) ? undefined : steeringFilter(filters)
  for (const filter of filters) {
    if (filter !== steering) conditions.push(`r.${filter.column} = ${parameter(filter.value)}`)
  }
  conditions.push(...idConditions(bounds))
  if (steering) conditions.push(...steeringConditions(steering.column, parameter(steering.value), bounds))
  if (isByCost(page)) conditions.push(...costConditions(page, parameter))
  const direction = page.sort.startsWith('-') ? 'desc' : 'asc'
  const first = isByCost(page) ? 'cost_micros' : steering?.column
  const order = `${first ? `r.${first} ${direction}, ` : ''}r.record_id ${direction}`
  return { conditions, order, isSteered: steering !== undefined || filters.length === 0, values, parameter }
}

function isByCost(page: PageRequest): boolean {
  return page.sort.endsWith('cost_usd_estimate')
}

/** Returns the position behind a row. */
export function positionOf(row: { record_id: string; cost_micros: string | null }, sort: RecordSort): PagePosition {
  if (!sort.endsWith('cost_usd_estimate') || row.cost_micros === null) return { recordId: row.record_id }
  return { recordId: row.record_id, costMicros: row.cost_micros }
}

interface Filter {
  column: Column
  value: string
}

function filtersOf({ recordTypes, ...criteria }: RecordCriteria): Filter[] {
  const wanted: [Column, string | undefined][] = [
    ['record_id', criteria.recordId],
    ['trace_id', criteria.traceId],
    ['session_id', criteria.sessionId],
    ['user_id', criteria.userId],
    ['skill_id', criteria.skillId],
    ['archetype_id', criteria.archetypeId],
    ['event_kind', criteria.eventKind],
    ['created_by', criteria.createdBy],
    ['record_type', recordTypes?.length === 1 ? recordTypes[0] : undefined],
  ]
  return wanted.flatMap(([column, value]) => (value === undefined ? [] : [{ column, value }]))
}

/**
 * Returns the only filter, or the only one besides the type, which is the least selective. With an id at most one row
 * matches, so no steering is needed.
 */
function steeringFilter(filters: readonly Filter[]): Filter | undefined {
  if (filters.some(({ column }) => column === 'record_id')) return undefined
  const telling = filters.length > 1 ? filters.filter(({ column }) => column !== 'record_type') : filters
  return telling.length === 1 ? telling[0] : undefined
}

/**
 * The parameters that bound the ids of the page. Of two bounds, the position of the page before is the narrower one.
 */
interface IdBounds {
  above?: { operator: '>' | '>='; id: string }
  below?: { operator: '<'; id: string }
}

function boundsOf(
  { fromId, beforeId }: RecordCriteria,
  page: PageRequest,
  parameter: (value: unknown) => string,
): IdBounds {
  const after = isByCost(page) ? undefined : page.after?.recordId
  const isDescending = page.sort.startsWith('-')
  const id = (value: string) => `${parameter(value)}::uuid`
  const bounds: IdBounds = {}
  if (after !== undefined && !isDescending) bounds.above = { operator: '>', id: id(after) }
  else if (fromId !== undefined) bounds.above = { operator: '>=', id: id(fromId) }
  if (after !== undefined && isDescending) bounds.below = { operator: '<', id: id(after) }
  else if (beforeId !== undefined) bounds.below = { operator: '<', id: id(beforeId) }
  return bounds
}

/** Returns the id conditions, which also exclude partitions. */
function idConditions({ above, below }: IdBounds): string[] {
  return [above, below].flatMap((bound) => (bound ? [`r.record_id ${bound.operator} ${bound.id}`] : []))
}

/**
 * Returns conditions that the column has the value, in a form that hides the constant from the planner and enters the
 * index at the first row of the page. Comparing column and id as a pair matches a search of the index.
 */
function steeringConditions(column: Column, value: string, { above, below }: IdBounds): string[] {
  const pair = `(r.${column}, r.record_id)`
  return [
    // From a comparison of pairs alone, the planner does not infer that a partial index on non-null values suffices.
    `r.${column} is not null`,
    above ? `${pair} ${above.operator} (${value}, ${above.id})` : `r.${column} >= ${value}`,
    below ? `${pair} ${below.operator} (${value}, ${below.id})` : `r.${column} <= ${value}`,
  ]
}

function costConditions(page: PageRequest, parameter: (value: unknown) => string): string[] {
  const hasCost = 'r.cost_micros is not null'
  const { after } = page
  if (after?.costMicros === undefined) return [hasCost]
  const beyond = page.sort.startsWith('-') ? '<' : '>'
  const position = `(${parameter(after.costMicros)}::bigint, ${parameter(after.recordId)}::uuid)`
  return [hasCost, `(r.cost_micros, r.record_id) ${beyond} ${position}`]
}

/** Dimensions for grouping and filtering, in the order of drilling down. */
export const dimensions = [
  { group: 'skill', field: 'skill_id', label: 'Skill', plural: 'Skills' },
  { group: 'archetype', field: 'archetype_id', label: 'Archetype', plural: 'Archetypes' },
  { group: 'user', field: 'user_id', label: 'User', plural: 'Users' },
  { group: 'platform', field: 'llm_platform', label: 'Platform', plural: 'Platforms' },
  { group: 'model', field: 'llm_model', label: 'Model', plural: 'Models' },
] as const

export type Dimension = (typeof dimensions)[number]
export type Group = Dimension['group']
export type FilterField = Dimension['field']
export type Filters = Partial<Record<FilterField, string>>

export function dimensionOf(group: Group): Dimension {
  return dimensions.find((each) => each.group === group) ?? dimensions[0]
}

/** Returns the filters among the parameters of an address. */
export function filtersOf(search: Readonly<Filters>): Filters {
  return Object.fromEntries(
    dimensions.flatMap(({ field }) => (search[field] === undefined ? [] : [[field, search[field]]])),
  )
}

/**
 * Returns the first dimension that is not a filter yet, where drilling down continues; the given one if all are
 * filters.
 */
export function nextDimension(filters: Filters, from: Group): Group {
  const start = dimensions.findIndex(({ group }) => group === from)
  const turned = [...dimensions.slice(start + 1), ...dimensions.slice(0, start + 1)]
  return turned.find(({ field }) => filters[field] === undefined)?.group ?? from
}

/** Returns a key for people: `user:kim@example.com` without its kind. */
export function shownKey(group: Group, key: string | undefined): string {
  if (key === undefined) return group === 'model' ? 'No model named' : 'Unknown'
  return group === 'user' ? key.replace(/^user:/, '') : key
}

/** Returns the parameters of the records behind the metrics. */
export function recordsOf(filters: Filters, from: string, to: string): Record<string, string> {
  return { record_type: 'telemetry_event', created_at__gte: from, created_at__lt: to, ...filtersOf(filters) }
}

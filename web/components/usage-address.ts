/** Objects with a page of their usage, by the dimension of metrics that they are values of. */
export type UsageGroup = 'skill' | 'user' | 'model' | 'archetype'

const folders: Record<UsageGroup, string> = {
  skill: '/usage/skills',
  user: '/usage/people',
  model: '/usage/models',
  archetype: '/usage/archetypes',
}

/**
 * Returns the address of the page of a skill, person, model or archetype; undefined for an id that cannot be a part of
 * a path, as in a forged record.
 *
 * @param id of a person: `usr_…`, or the user of telemetry, `user:kim@example.com`
 */
export function usageAddress(group: UsageGroup, id: string): string | undefined {
  return id === '' || id === '.' || id === '..' ? undefined : `${folders[group]}/${encodeURIComponent(id)}`
}

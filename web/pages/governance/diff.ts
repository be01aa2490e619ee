import { isObject } from '../../ui/is-object.ts'

export interface Change {
  /** The path of the member: `scopes`, `rules.0.min_days`. */
  path: string
  kind: 'added' | 'removed' | 'changed' | 'same'
  before?: string
  after?: string
}

/**
 * Returns the changes of a value, member by member. Compares objects in depth, lists of plain values as a whole.
 * Without a previous value, all members are additions.
 */
export function changesBetween(before: unknown, after: unknown): Change[] {
  const old = flat(before)
  const now = flat(after)
  const paths = [...new Set([...old.keys(), ...now.keys()])]
  return paths.map((path): Change => {
    const was = old.get(path)
    const is = now.get(path)
    if (was === undefined) return { path, kind: 'added', after: is ?? '' }
    if (is === undefined) return { path, kind: 'removed', before: was }
    return { path, kind: was === is ? 'same' : 'changed', before: was, after: is }
  })
}

function flat(value: unknown, path = '', into = new Map<string, string>()): Map<string, string> {
  const inside = (name: string) => (path === '' ? name : `${path}.${name}`)
  if (isObject(value)) for (const [name, member] of Object.entries(value)) flat(member, inside(name), into)
  else if (Array.isArray(value) && value.some((item) => typeof item === 'object' && item !== null))
    for (const [index, item] of value.entries()) flat(item, inside(String(index)), into)
  else if (value !== undefined && !(value === null && path === '')) into.set(path || 'value', describeChanges(value))
  return into
}

/** Returns a value on one line. */
export function describeChanges(value: unknown): string {
  if (value === null || value === undefined) return 'none'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) return value.join(', ') || 'none'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

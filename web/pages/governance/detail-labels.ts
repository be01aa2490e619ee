import { formatCount } from '../../ui/formats.ts'
import { isObject } from '../../ui/is-object.ts'
import { formatTime } from '../../ui/time-text.tsx'

const namedAtMost = 3
const isSnake = /^[a-z]+(_[a-z]+)+$/
/** Members whose values need no name. */
const names = new Set(['name', 'display_name', 'description', 'title'])
const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d/

/** Members with proofs or references, which are omitted because readers do not need them. */
const mute = /(_digest$|^session_id|^family_id|^delivery_id|^request_id|^address|^actor)$/

/** Returns a readable name: `min_invocations` → min invocations */
export function describeName(name: string): string {
  return name.replaceAll('_', ' ').trim()
}

/** Returns a list as text: a, b, c and 4 more */
export function describeList(items: readonly string[], atMost = namedAtMost, between = ', '): string {
  const more = items.length - atMost
  if (more <= 0) return items.join(between) || 'none'
  return `${items.slice(0, atMost).join(between)} and ${formatCount(more)} more`
}

/** Returns a value of an event on one line. */
export function describeValue(value: unknown, atMost = namedAtMost): string {
  if (value === null || value === undefined || value === '') return 'none'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number') return value.toLocaleString()
  if (Array.isArray(value)) {
    const between = value.some(isObject) ? '; ' : ', '
    return describeList(
      value.map((item) => (isObject(item) ? describeDetail(item) : String(item))),
      atMost,
      between,
    )
  }
  if (isObject(value)) return describeDetail(value)
  const text = String(value)
  if (isTime.test(text) && !Number.isNaN(Date.parse(text))) return formatTime(text)
  return isSnake.test(text) ? describeName(text) : text
}

/** Returns members with their values: `description Pager, enabled, 2 alerts, thresholds (cost usd 2)`. */
export function describeDetail(members: Readonly<Record<string, unknown>>): string {
  return Object.entries(members)
    .filter(([name, value]) => !mute.test(name) && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => memberInWords(name, value))
    .join(', ')
}

function memberInWords(member: string, value: unknown): string {
  const name = describeName(member)
  if (typeof value === 'boolean') return value ? name : `not ${name}`
  if (names.has(member) && typeof value === 'string' && value !== '') return `“${value}”`
  if (Array.isArray(value) && value.some(isObject)) {
    return `${formatCount(value.length)} ${value.length === 1 ? name.replace(/s$/, '') : name}`
  }
  return `${name} ${isObject(value) ? `(${describeDetail(value)})` : describeValue(value)}`
}

/** Returns the changed members, or all of them if there was no previous value. */
export function describeChange(before: unknown, after: unknown): string {
  if (!isObject(after)) return ''
  const was = isObject(before) ? before : {}
  const changed = Object.entries(after).filter(([name, value]) => JSON.stringify(was[name]) !== JSON.stringify(value))
  const gone = Object.keys(was).filter((name) => !Object.hasOwn(after, name) && !mute.test(name))
  return [describeDetail(Object.fromEntries(changed)), ...gone.map((name) => `no ${describeName(name)} any more`)]
    .filter(Boolean)
    .join(', ')
}

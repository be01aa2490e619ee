/** Kinds of messages that the Hub sends (decisions section 7), and how an endpoint names those that it wants. */

export const userEventKinds = [
  'user.provisioned',
  'user.updated',
  'user.deactivated',
  'user.archetype_changed',
] as const
export type UserEventKind = (typeof userEventKinds)[number]

/** Of single invocations; what is exceeded is for each endpoint to say. */
export const invocationEventKinds = [
  'skill.invocation_failed',
  'skill.latency_exceeded',
  'skill.cost_exceeded',
] as const
export type InvocationEventKind = (typeof invocationEventKinds)[number]

/** Sent by `:test` alone. */
export const testEventKind = 'webhook.test'

/** The kind of the message that tells of a governance event: `governance.` and its `event_kind`. */
export const governancePrefix = 'governance.'

const known: ReadonlySet<string> = new Set([...userEventKinds, ...invocationEventKinds])
const families: ReadonlySet<string> = new Set(['user.*', 'skill.*'])
const governanceName = /^governance\.([a-z0-9_]+\.)*([a-z0-9_]+|\*)$/
const nameLengthMax = 128

/** Whether an endpoint may name it: a kind, `user.*`, `skill.*`, `governance.*`, or `governance.hub.*` and the like. */
export function isEventName(name: string): boolean {
  return known.has(name) || families.has(name) || (name.length <= nameLengthMax && governanceName.test(name))
}

/** Whether an endpoint that names these wants a kind. */
export function wantsKind(names: readonly string[], kind: string): boolean {
  return names.some((name) => (name.endsWith('.*') ? kind.startsWith(name.slice(0, -1)) : name === kind))
}

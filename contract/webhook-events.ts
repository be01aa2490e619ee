import { customFamily, governanceFamilies, governanceKinds, isGovernanceKind } from './governance-kinds.ts'

/** Kinds of messages that the Hub sends (decisions section 7), and how an endpoint names those that it wants. */

export const userEventKinds = [
  'user.provisioned',
  'user.updated',
  'user.deactivated',
  'user.archetype_changed',
] as const
export type UserEventKind = (typeof userEventKinds)[number]

/** Events about single invocations. Each endpoint sets its own thresholds. */
export const invocationEventKinds = [
  'skill.invocation_failed',
  'skill.latency_exceeded',
  'skill.cost_exceeded',
] as const
export type InvocationEventKind = (typeof invocationEventKinds)[number]

/** Events about alerts. Endpoints with alert rules receive them regardless of their subscription. */
export const alertEventKinds = ['skill.alert_opened', 'skill.alert_closed'] as const

/** Events about budgets. An endpoint that a budget names receives them regardless of its subscription. */
export const budgetEventKinds = ['budget.threshold_reached'] as const

/** Sent by `:test` alone. */
export const testEventKind = 'webhook.test'

/** The type of the message about a governance event: `governance.` and its `event_kind`. */
export const governancePrefix = 'governance.'

const nameable: readonly string[] = [...userEventKinds, ...invocationEventKinds, ...budgetEventKinds]
const families: readonly string[] = ['user.*', 'skill.*', 'budget.*', 'governance.*']
const sent: ReadonlySet<string> = new Set([...nameable, ...alertEventKinds, testEventKind])

/**
 * Returns why an endpoint must not subscribe to this name; undefined if it may. Valid names are a kind, or a family such
 * as `user.*`, `skill.*`, `budget.*`, `governance.*`, `governance.hub.*` and `governance.custom.deploys.*`.
 */
export function problemOfEventName(name: string): string | undefined {
  if (nameable.includes(name) || families.includes(name)) return undefined
  if (!name.startsWith(governancePrefix)) {
    return `is an unknown event. Name ${listOf(nameable)}, or all of a family: ${listOf([...families, 'governance.auth.*'])}`
  }
  const kind = name.slice(governancePrefix.length)
  const family = kind.slice(0, Math.max(kind.indexOf('.'), 0))
  if (!governanceFamilies.includes(family)) {
    return `is not of a family of governance events. Those are ${listOf(governanceFamilies.map(familyName))}`
  }
  if (family === customFamily) {
    // A family of these is named by any beginning, since it is for clients to say which there are.
    const isSound = kind === 'custom.*' || isGovernanceKind(kind.endsWith('.*') ? kind.slice(0, -2) : kind)
    return isSound ? undefined : 'must go on as event_kind does: 1 to 121 of A-Z a-z 0-9 _ . : - after custom.'
  }
  if (kind === `${family}.*` || isGovernanceKind(kind)) return undefined
  const those = governanceKinds.filter((each) => each.startsWith(`${family}.`)).map((each) => governancePrefix + each)
  return `is not a governance event that the service writes. Name ${listOf(those)}, or all of them: ${familyName(family)}`
}

function familyName(family: string): string {
  return `${governancePrefix}${family}.*`
}

function listOf(names: readonly string[]): string {
  return names.join(', ')
}

/** Whether a message may be of this kind. */
export function isMessageKind(kind: string): boolean {
  return sent.has(kind) || (kind.startsWith(governancePrefix) && isGovernanceKind(kind.slice(governancePrefix.length)))
}

/** Whether an endpoint that names these wants a kind. */
export function wantsKind(names: readonly string[], kind: string): boolean {
  return names.some((name) => (name.endsWith('.*') ? kind.startsWith(name.slice(0, -1)) : name === kind))
}

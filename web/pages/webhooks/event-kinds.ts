import { customFamily, governanceFamilies, governanceKinds } from '../../../contract/governance-kinds.ts'
import {
  budgetEventKinds,
  governancePrefix,
  type InvocationEventKind,
  invocationEventKinds,
  type UserEventKind,
  userEventKinds,
} from '../../../contract/webhook-events.ts'

const meanings: Record<UserEventKind | InvocationEventKind | (typeof budgetEventKinds)[number], string> = {
  'user.provisioned': 'A person was added to the roster, by the directory, by hand or by signing in',
  'user.updated': 'Role, name, address or status of a person changed; the message names what',
  'user.deactivated': 'A person was deactivated, or removed by the directory',
  'user.archetype_changed': 'Archetypes were assigned, with those before and after',
  'skill.invocation_failed': 'An invocation came in that failed',
  'skill.latency_exceeded': 'An invocation took longer than the threshold below',
  'skill.cost_exceeded': 'An invocation cost more than the threshold below, by estimate or computed',
  'budget.threshold_reached': 'The costs of a period reached a threshold of a budget',
}

interface EventGroup {
  /** The whole family, such as `user.*`, including kinds of later versions. */
  family: string
  label: string
  kinds: readonly { name: string; meaning: string }[]
}

/** Events of people, of invocations and of budgets, with their meaning. */
export const eventGroups: readonly EventGroup[] = [
  { family: 'user.*', label: 'People', kinds: userEventKinds.map((name) => ({ name, meaning: meanings[name] })) },
  {
    family: 'skill.*',
    label: 'Skills',
    kinds: invocationEventKinds.map((name) => ({ name, meaning: meanings[name] })),
  },
  {
    family: 'budget.*',
    label: 'Budgets',
    kinds: budgetEventKinds.map((name) => ({ name, meaning: meanings[name] })),
  },
]

export const allGovernance = `${governancePrefix}*`

const families: Record<string, string> = {
  alert: 'Opened alerts',
  auth: 'Sign-ins and refusals',
  budget: 'Thresholds of budgets',
  cmek: 'The tenant’s own key',
  connector: 'Connectors',
  custom: 'Written by your programs',
  hub: 'Exports, holds, deletions, tampering',
  rbac: 'Archetypes',
  roster: 'Directory syncs',
  skill: 'Grants of skills',
  telemetry: 'Rating of stored events',
  tenant: 'Settings of the tenant',
  webhook: 'Endpoints',
}

/** Governance events by family, as grouped options: first the family itself, then its kinds. */
export const governanceChoices = governanceFamilies.map((family) => ({
  group: families[family] ?? family,
  items: [
    `${governancePrefix}${family}.*`,
    ...(family === customFamily
      ? []
      : governanceKinds.filter((kind) => kind.startsWith(`${family}.`)).map((kind) => governancePrefix + kind)),
  ],
}))

/** Every kind of delivery, for filters. */
export const deliveryKinds: readonly string[] = [
  ...userEventKinds,
  ...invocationEventKinds,
  ...budgetEventKinds,
  'skill.alert_opened',
  'skill.alert_closed',
  'webhook.test',
  ...governanceKinds.map((kind) => governancePrefix + kind),
]

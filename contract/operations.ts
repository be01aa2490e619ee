import { agentOperations } from './operations/agents.ts'
import { budgetOperations } from './operations/budgets.ts'
import { entitlementOperations } from './operations/entitlement.ts'
import { exportOperations } from './operations/exports.ts'
import { governanceOperations } from './operations/governance.ts'
import { notificationOperations } from './operations/notifications.ts'
import { onboardingOperations } from './operations/onboarding.ts'
import type { Operation } from './operations/operation.ts'
import { operatorOperations } from './operations/operator.ts'
import { hubOperations } from './operations/records.ts'
import { rosterOperations } from './operations/roster.ts'
import { searchOperations } from './operations/search.ts'
import { serviceOperations } from './operations/service.ts'
import { signInOperations } from './operations/sign-in.ts'
import { telemetryOperations } from './operations/telemetry.ts'
import { tenantOperations } from './operations/tenant.ts'
import { viewOperations } from './operations/views.ts'
import { webhookOperations } from './operations/webhooks.ts'

export type { Access, Operation } from './operations/operation.ts'

/** Every operation of the HTTP API, once: route, access, limit class and name. The name is the operationId. */
export const operations = {
  ...serviceOperations,
  ...signInOperations,
  ...hubOperations,
  ...searchOperations,
  ...governanceOperations,
  ...exportOperations,
  ...telemetryOperations,
  ...budgetOperations,
  ...tenantOperations,
  ...onboardingOperations,
  ...rosterOperations,
  ...entitlementOperations,
  ...webhookOperations,
  ...viewOperations,
  ...notificationOperations,
  ...agentOperations,
  ...operatorOperations,
} as const satisfies Record<string, Operation>

export type OperationId = keyof typeof operations

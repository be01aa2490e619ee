import type { FastifyInstance } from 'fastify'
import type { Database, DatabaseLog } from '../../db/database.ts'
import { cursorKeyPurpose } from '../../http/cursor.ts'
import type { TenantChore } from '../../jobs/housekeeping.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import { deriveKey } from '../../secrets/sealing.ts'
import type { TenantSecrets } from '../cmek/cmek-types.ts'
import type { GovernanceLog } from '../governance/governance-types.ts'
import type { RecordClock } from '../hub/record-clock-types.ts'
import type { UserProfiles } from '../roster/roster-types.ts'
import type { TenantDirectory } from '../tenants/tenants-types.ts'
import { addDeliveryRoutes } from './deliveries/deliveries-routes.ts'
import { createDeliveryAdministration } from './deliveries/deliveries-service.ts'
import type { WebhookWorker } from './delivery-types.ts'
import { createEndpoints } from './endpoints/endpoints.ts'
import { createWebhookSecrets } from './endpoints/webhook-secrets.ts'
import { addWebhookRoutes } from './endpoints/webhooks-routes.ts'
import { createWebhookAdministration } from './endpoints/webhooks-service.ts'
import { createGovernanceNews } from './events/governance-news.ts'
import { createInvocationWatches } from './invocations/invocation-watches.ts'
import { noWorker } from './not-built-yet.ts'
import { createWebhookOutbox } from './outbox/webhook-outbox.ts'
import type { Endpoints, GovernanceNews, InvocationWatches, WebhookOutbox } from './webhooks-types.ts'

export interface WebhooksModule {
  endpoints: Endpoints
  outbox: WebhookOutbox
  news: GovernanceNews
  watches: InvocationWatches
  worker: WebhookWorker
  routes(app: FastifyInstance): void
  chores: readonly TenantChore[]
  /** What goes on in the background: delivery, and the watch over windows of time. */
  start(): void
  stop(): Promise<void>
  /** What waits to be told to other processes is told; called once it has stopped, before the database is closed. */
  settled(): Promise<void>
}

export function createWebhooksModule(deps: {
  database: Database
  masterKey: Buffer
  governance: GovernanceLog
  secrets: TenantSecrets
  /** With the time that a receiver has. */
  outbound: Outbound
  clock: RecordClock
  profiles: UserProfiles
  directory: Pick<TenantDirectory, 'find' | 'slugs'>
  log: DatabaseLog
}): WebhooksModule {
  const cursorKey = deriveKey(deps.masterKey, cursorKeyPurpose)

  // ── Endpoints ──
  const endpointsChanged = (tenantId: string) => {
    watches.changed(tenantId)
    // Wakes the workers of other processes too.
    outbox.queued(tenantId)
  }
  const secrets = createWebhookSecrets(deps.secrets)
  const endpoints = createEndpoints({ ...deps, secrets, changed: endpointsChanged })
  const administration = createWebhookAdministration({ ...deps, secrets, cursorKey, changed: endpointsChanged })

  // ── Outbox, and what is told (C) ──
  const outbox = createWebhookOutbox({ ...deps, wake: (tenantId) => worker.wake(tenantId) })
  const news = createGovernanceNews({ ...deps, outbox })

  // ── Delivery (B) ──
  const worker: WebhookWorker = noWorker

  // ── Invocations and alerts (D) ──
  const watches = createInvocationWatches({ ...deps, endpoints })

  // ── Deliveries ──
  const deliveries = createDeliveryAdministration({ ...deps, endpoints, outbox, cursorKey })

  return {
    ...{ endpoints, outbox, news, watches, worker },
    routes(app) {
      addWebhookRoutes(app, administration)
      addDeliveryRoutes(app, deliveries)
      // Of alerts (D).
    },
    chores: [
      // Of retention (C).
    ],
    start() {
      worker.start()
      // And the evaluator of alerts (D).
    },
    async stop() {
      await worker.stop()
    },
    async settled() {
      await outbox.settled()
    },
  }
}

import type { FastifyInstance } from 'fastify'
import type { Database, DatabaseLog, TenantTx } from '../../db/database.ts'
import type { EventBus } from '../../events.ts'
import { cursorKeyPurpose } from '../../http/cursor.ts'
import type { TenantChore } from '../../jobs/housekeeping.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import type { RecordClock } from '../../records/record-clock.ts'
import { deriveKey } from '../../secrets/encryption.ts'
import { createUrlRedactor } from '../../secrets/redacted-url.ts'
import type { TenantSecrets } from '../cmek/cmek-types.ts'
import type { ErasedRecord } from '../erasure/erasure-types.ts'
import type { GovernanceLog } from '../governance/governance-types.ts'
import type { UserProfiles } from '../roster/roster-types.ts'
import type { TelemetryWindows } from '../telemetry/summary/window-types.ts'
import type { TenantDirectory } from '../tenants/tenants-types.ts'
import { createAlertEnds } from './alerts/alert-changes.ts'
import { createAlertEvaluator } from './alerts/alert-evaluator.ts'
import { createAlertLoop } from './alerts/alert-loop.ts'
import type { AlertEvaluator } from './alerts/alert-types.ts'
import { addAlertRoutes } from './alerts/alerts-routes.ts'
import { createAlertAdministration } from './alerts/alerts-service.ts'
import { addDeliveryRoutes } from './deliveries/deliveries-routes.ts'
import { createDeliveryAdministration } from './deliveries/deliveries-service.ts'
import type { DeliveryMetrics, WebhookWorker } from './delivery-types.ts'
import { createEndpoints, createWebhookSecrets } from './endpoints/endpoints.ts'
import { addWebhookRoutes } from './endpoints/webhooks-routes.ts'
import { createWebhookAdministration } from './endpoints/webhooks-service.ts'
import {
  createDeliveryExpiry,
  createRemovedExpiry,
  createWebhookKeyDestruction,
  forgetAlerts,
  forgetDeliveries,
  type WebhookKeyDestruction,
} from './erasure/webhook-erasure.ts'
import { createGovernanceOutbox } from './events/governance-outbox.ts'
import { createInvocationWatches } from './invocations/invocation-watch.ts'
import { createWebhookOutbox, listenForOutbox } from './outbox/webhook-outbox.ts'
import type { Endpoints, InvocationWatches, WebhookOutbox } from './webhooks-types.ts'
import { WebhookDispatcher } from './worker/webhook-dispatcher.ts'

export interface WebhooksModule {
  endpoints: Endpoints
  outbox: WebhookOutbox
  watches: InvocationWatches
  alerts: AlertEvaluator
  worker: WebhookWorker
  routes(app: FastifyInstance): void
  chores: readonly TenantChore[]
  /** Erases data about people and records together with them, in their transaction. */
  forgetRecords(tx: TenantTx, records: readonly ErasedRecord[]): Promise<void>
  /** Erases data together with the key of a Mode B tenant. */
  keyDestruction: WebhookKeyDestruction
  /** Starts delivery and the evaluation of alerts. */
  start(metrics?: DeliveryMetrics): void
  stop(): Promise<void>
  /** Sends the remaining notifications. Call it after the stop, before the database closes. */
  settled(): Promise<void>
}

export function createWebhooksModule(deps: {
  database: Database
  masterKey: Buffer
  governance: GovernanceLog
  events: EventBus
  secrets: TenantSecrets
  /** The client with the timeout of webhook receivers. */
  outbound: Outbound
  clock: RecordClock
  profiles: UserProfiles
  directory: Pick<TenantDirectory, 'find' | 'slugs'>
  windows: TelemetryWindows
  /** Returns milliseconds since 1970; tests advance it. */
  wallMs: () => number
  log: DatabaseLog
}): WebhooksModule {
  const cursorKey = deriveKey(deps.masterKey, cursorKeyPurpose)
  const tenants = {
    findTenant: (slug: string) => deps.directory.find(slug),
    listTenants: () => deps.directory.slugs(),
  }

  // ── Endpoints ──
  const endpointsChanged = (tenantId: string) => {
    watches.changed(tenantId)
    alertLoop.wake(tenantId)
    // Wakes the workers of other processes too.
    outbox.queued(tenantId)
  }
  const secrets = createWebhookSecrets(deps.secrets)
  const describeUrl = createUrlRedactor(deps.masterKey)
  const endpoints = createEndpoints({ ...deps, secrets, describeUrl, changed: endpointsChanged })
  const administration = createWebhookAdministration({
    ...{ ...deps, secrets, describeUrl, cursorKey, changed: endpointsChanged },
    breakOff: (...endpoint) => worker.breakOff(...endpoint),
    alertEnds: {
      rulesChanged: (...changed) => alertEnds.rulesChanged(...changed),
      forgotten: (...endpoint) => alertEnds.forgotten(...endpoint),
    },
  })

  // ── Outbox and its events ──
  const outbox = createWebhookOutbox({ ...deps, wake: (...word) => worker.wake(...word) })
  deps.events.onInTransaction('governanceWritten', createGovernanceOutbox({ ...deps, outbox }))

  // ── Delivery ──
  const worker: WebhookWorker = new WebhookDispatcher({
    ...{ ...deps, ...tenants, endpoints },
    hear: (heard) => listenForOutbox(deps.database, heard),
  })

  // ── Invocations and alerts ──
  const watches = createInvocationWatches({ ...deps, endpoints })
  const alertEnds = createAlertEnds({ outbox, nowMs: deps.wallMs })
  const evaluator = createAlertEvaluator({ ...deps, endpoints, outbox, nowMs: deps.wallMs })
  const alertLoop = createAlertLoop({ ...{ ...deps, ...tenants }, evaluator })
  const alerts = createAlertAdministration({ ...deps, endpoints, cursorKey })

  // ── Deliveries ──
  const deliveries = createDeliveryAdministration({ ...deps, endpoints, outbox, cursorKey })

  // ── Erasure ──
  async function forgetRecords(tx: TenantTx, records: readonly ErasedRecord[]): Promise<void> {
    await forgetAlerts(tx, records)
    await forgetDeliveries(tx, records)
    tx.afterCommit(() => outbox.erased(tx.tenantId))
  }
  deps.events.onInTransaction('recordsErased', (tx, { records }) => forgetRecords(tx, records))

  return {
    ...{ endpoints, outbox, forgetRecords, watches, alerts: evaluator, worker },
    routes(app) {
      addWebhookRoutes(app, administration)
      addDeliveryRoutes(app, deliveries)
      addAlertRoutes(app, alerts)
    },
    chores: [createDeliveryExpiry(deps), createRemovedExpiry(deps)],
    keyDestruction: createWebhookKeyDestruction({ changed: outbox.erased }),
    start(metrics) {
      worker.start(metrics)
      alertLoop.start()
    },
    async stop() {
      await Promise.all([worker.stop(), alertLoop.stop()])
    },
    async settled() {
      await outbox.settled()
    },
  }
}

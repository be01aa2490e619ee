import type { FastifyInstance } from 'fastify'
import type { TenantTx } from '../../db/database.ts'
import type { TenantChore } from '../../jobs/housekeeping.ts'
import type { ModuleParts } from '../../module-parts.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import { createUrlRedactor } from '../../secrets/redacted-url.ts'
import type { ErasedRecord } from '../erasure/erasure-types.ts'
import type { UserProfiles } from '../roster/roster-types.ts'
import type { TelemetryWindows } from '../telemetry/summary/window-types.ts'
import type { TenantDirectory } from '../tenants/tenants-types.ts'
import { AlertEnds } from './alerts/alert-changes.ts'
import { AlertEvaluator, createAlertLoop } from './alerts/alert-evaluator.ts'
import { addAlertRoutes } from './alerts/alerts-routes.ts'
import { AlertLists } from './alerts/alerts-service.ts'
import { createAddressTests } from './deliveries/address-tests.ts'
import { addAddressTestRoutes, addDeliveryRoutes } from './deliveries/deliveries-routes.ts'
import { DeliveryAdministration } from './deliveries/deliveries-service.ts'
import { Endpoints, WebhookSecrets } from './endpoints/endpoints.ts'
import { addWebhookRoutes } from './endpoints/webhooks-routes.ts'
import { WebhookAdministration } from './endpoints/webhooks-service.ts'
import { eraseAlerts, eraseDeliveriesAbout, eraseOwnKeyMessages, webhookChores } from './erasure/webhook-erasure.ts'
import { createGovernanceOutbox } from './events/governance-outbox.ts'
import { createInvocationWatches } from './invocations/invocation-watch.ts'
import { lockWebhooks } from './outbox/outbox-store.ts'
import { listenForOutbox, StoredOutbox } from './outbox/webhook-outbox.ts'
import type { DeliveryMetrics, InvocationWatches, WebhookOutbox } from './webhooks-types.ts'
import { WebhookDispatcher } from './worker/webhook-dispatcher.ts'

export interface WebhooksModule {
  endpoints: Endpoints
  outbox: WebhookOutbox
  watches: InvocationWatches
  alerts: AlertEvaluator
  worker: WebhookDispatcher
  routes(app: FastifyInstance): void
  chores: readonly TenantChore[]
  /** Erases data about people and records together with them, in their transaction. */
  eraseRecordCopies(tx: TenantTx, records: readonly ErasedRecord[]): Promise<void>
  /** Erases data together with the key of a Mode B tenant. Call `lock` first: a new secret is encrypted under this key. */
  keyDestruction: { lock(tx: TenantTx): Promise<void>; forget(tx: TenantTx): Promise<void> }
  /** Starts delivery and the evaluation of alerts. */
  start(metrics?: DeliveryMetrics): void
  stop(): Promise<void>
  /** Sends the remaining notifications. Call it after the stop, before the database closes. */
  settled(): Promise<void>
}

export function createWebhooksModule(
  deps: Pick<
    ModuleParts,
    'database' | 'masterKey' | 'governance' | 'events' | 'secrets' | 'cursorKey' | 'clock' | 'log'
  > & {
    /** The client with the timeout of webhook receivers. */
    outbound: Outbound
    profiles: UserProfiles
    directory: Pick<TenantDirectory, 'find' | 'slugs'>
    windows: TelemetryWindows
    /** Returns milliseconds since 1970; tests advance it. */
    wallMs: () => number
  },
): WebhooksModule {
  const tenants = {
    findTenant: (slug: string) => deps.directory.find(slug),
    listTenants: () => deps.directory.slugs(),
  }

  // ── Outbox and its events ──
  const outbox = new StoredOutbox({ ...deps, wake: (...signal) => worker.wake(...signal) })
  deps.events.onInTransaction('governanceWritten', createGovernanceOutbox({ ...deps, outbox }))

  // ── Endpoints ──
  const alertEnds = new AlertEnds({ outbox, nowMs: deps.wallMs })
  const endpointsChanged = (tenantId: string) => {
    watches.changed(tenantId)
    alertLoop.wake(tenantId)
    // Wakes the workers of other processes too.
    outbox.queued(tenantId)
  }
  const secrets = new WebhookSecrets(deps.secrets)
  const describeUrl = createUrlRedactor(deps.masterKey)
  const endpoints = new Endpoints({ ...deps, secrets, describeUrl, changed: endpointsChanged })
  const administration = new WebhookAdministration({
    ...{ ...deps, secrets, describeUrl, changed: endpointsChanged },
    breakOff: (...endpoint) => worker.breakOff(...endpoint),
    alertEnds,
  })

  // ── Delivery ──
  const worker: WebhookDispatcher = new WebhookDispatcher({
    ...{ ...deps, ...tenants, endpoints },
    hear: (heard) => listenForOutbox(deps.database, heard),
  })

  // ── Invocations and alerts ──
  const watches = createInvocationWatches({ ...deps, endpoints })
  const evaluator = new AlertEvaluator({ ...deps, endpoints, outbox, nowMs: deps.wallMs })
  const alertLoop = createAlertLoop({ ...{ ...deps, ...tenants }, evaluator })
  const alerts = new AlertLists({ ...deps, endpoints })

  // ── Deliveries ──
  const deliveries = new DeliveryAdministration({ ...deps, endpoints, outbox })
  const addressTests = createAddressTests({ ...deps, describeUrl })

  // ── Erasure ──
  async function eraseRecordCopies(tx: TenantTx, records: readonly ErasedRecord[]): Promise<void> {
    await eraseAlerts(tx, records)
    await eraseDeliveriesAbout(tx, records)
    tx.afterCommit(() => outbox.erased(tx.tenantId))
  }
  deps.events.onInTransaction('recordsErased', (tx, { records }) => eraseRecordCopies(tx, records))

  return {
    ...{ endpoints, outbox, eraseRecordCopies, watches, alerts: evaluator, worker },
    routes(app) {
      addWebhookRoutes(app, administration)
      addDeliveryRoutes(app, deliveries)
      addAddressTestRoutes(app, addressTests)
      addAlertRoutes(app, alerts)
    },
    chores: webhookChores(deps.clock),
    keyDestruction: {
      lock: lockWebhooks,
      async forget(tx) {
        await eraseOwnKeyMessages(tx)
        tx.afterCommit(() => outbox.erased(tx.tenantId))
      },
    },
    start(metrics) {
      worker.start(metrics)
      alertLoop.start()
    },
    async stop() {
      await Promise.all([worker.stop(), alertLoop.stop()])
    },
    settled: () => outbox.settled(),
  }
}

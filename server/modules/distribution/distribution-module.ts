import type { FastifyInstance } from 'fastify'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import { readTenant } from '../../db/database.ts'
import { listenForTenants, TenantNotifier } from '../../db/tenant-notifier.ts'
import type { ModuleParts } from '../../module-parts.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import type { ConnectorCredentials } from '../connectors/connectors-types.ts'
import type { SkillGrants } from '../entitlement/entitlement-types.ts'
import type { TenantDirectory } from '../tenants/tenants-types.ts'
import { createAnthropicSkills } from './adapters/anthropic-skills.ts'
import { createHttpPush, createPull, type SecondsSinceFetch } from './adapters/http-push.ts'
import { addDelivery, makeAllDue, removeDelivery, renewDelivery, secondsSincePublish } from './deliveries-store.ts'
import { addDistributionRoutes } from './distribution-routes.ts'
import type { AdapterOf, ConnectorTester, Deliveries } from './distribution-types.ts'
import { createConnectorTester, ManifestReader } from './manifest-service.ts'
import { PublishExecutor } from './publish-executor.ts'
import { createPublishScheduler } from './publish-scheduler.ts'
import { Republishing, reached } from './republish-service.ts'

/** The channel that wakes the publishing processes. */
const skillsChannel = 'hub_skills'

export interface DistributionModule {
  /** Publishes in the background, each connector at least every 30 seconds. */
  publisher: { start(): void; stop(): Promise<void> }
  deliveries: Deliveries
  tester: ConnectorTester
  routes(app: FastifyInstance): void
  /** Waits until pending notifications are sent. Call it before the database closes. */
  settled(): Promise<void>
}

export function createDistributionModule(
  deps: Pick<ModuleParts, 'database' | 'governance' | 'events' | 'keys' | 'log'> & {
    grants: Pick<SkillGrants, 'published'>
    credentials: ConnectorCredentials
    directory: Pick<TenantDirectory, 'find' | 'slugs'>
    /** Has the timeout for receivers. */
    outbound: Outbound
  },
): DistributionModule {
  const { database, directory, log } = deps
  const adapterOf = createPlatformAdapters({
    outbound: deps.outbound,
    secondsSinceFetch: (tenant, connectorId) =>
      readTenant(database, tenant, (tx) => secondsSincePublish(tx, connectorId)),
  })
  const parts = { ...deps, adapterOf }
  const publisher = createPublishScheduler({
    executor: new PublishExecutor(parts),
    findTenant: (slug) => directory.find(slug),
    listTenants: () => directory.slugs(),
    listen: (wake) => listenForTenants(database, skillsChannel, wake),
    log,
  })
  /** Tenants whose connectors become due before the notification, because skills changed. */
  const changed = new Set<string>()
  const notifier = new TenantNotifier({
    ...{ database, channel: skillsChannel, pauseMs: 50 },
    async before(tenantIds) {
      for (const tenantId of tenantIds) {
        if (changed.delete(tenantId)) await database.withTenant(tenantId, (tx) => makeAllDue(tx)).catch(failed)
        publisher.wake(tenantId)
      }
    },
    failed,
  })
  // A lost change only costs time: every connector is published to within its period, with the current manifest.
  function failed(error: unknown): void {
    log.warn({ err: error }, 'a change of skills is published later, in the next round')
  }
  deps.events.on('skillsChanged', ({ tenantId }) => {
    changed.add(tenantId)
    notifier.notify(tenantId)
  })
  const republishing = new Republishing({ ...deps, ordered: (tenantId) => notifier.notify(tenantId) })

  const deliveries: Deliveries = {
    async begin(tx, connectorId) {
      await addDelivery(tx, connectorId)
      tx.afterCommit(() => notifier.notify(tx.tenantId))
    },
    async renew(tx, connectorId, { otherReceiver }) {
      await renewDelivery(tx, connectorId, otherReceiver)
      tx.afterCommit(() => {
        if (otherReceiver) publisher.of(tx.tenantId)?.breakOff(connectorId)
        notifier.notify(tx.tenantId)
      })
    },
    async end(tx, connectorId) {
      await removeDelivery(tx, connectorId)
      await reached(tx, { connector_id: connectorId, status: 'removed', at: formatTimestamp(Date.now()) })
      tx.afterCommit(() => publisher.of(tx.tenantId)?.breakOff(connectorId))
    },
    credentialsSent: (connector) => adapterOf(connector).credentials,
  }

  return {
    publisher: {
      start: () => publisher.start(),
      stop: () => publisher.stop(),
    },
    deliveries,
    tester: createConnectorTester(parts),
    routes: (app) => addDistributionRoutes(app, new ManifestReader(parts), republishing),
    settled: () => notifier.settled(),
  }
}

/**
 * Creates the adapters. A connector with credentials of a vendor's own API uses that API; any other address receives
 * the manifest.
 */
function createPlatformAdapters(deps: { outbound: Outbound; secondsSinceFetch: SecondsSinceFetch }): AdapterOf {
  const httpPush = createHttpPush(deps.outbound)
  const anthropic = createAnthropicSkills(deps.outbound)
  const pull = createPull(deps.secondsSinceFetch)
  return ({ platform, delivery, credentials }) => {
    if (delivery === 'pull') return pull
    return platform === 'claude' && credentials.anthropic_api_key !== undefined ? anthropic : httpPush
  }
}

import type { FastifyInstance } from 'fastify'
import { readTenant } from '../../db/database.ts'
import { listenForTenants, TenantNotifier } from '../../db/tenant-notifier.ts'
import type { Tenant } from '../../http/caller.ts'
import type { ModuleParts } from '../../module-parts.ts'
import type { LogEntryRecords } from '../records/log-entry-records-types.ts'
import { Integrator } from './integrator.ts'
import { createLogFeed } from './log-feed.ts'
import { createLogProofs } from './log-proofs.ts'
import { addLogRoutes } from './log-routes.ts'
import { oldestArrival } from './log-store.ts'
import { createProofBundles } from './proof-bundles.ts'
import { createTenantLogs } from './tenant-logs.ts'

/** The channel that wakes the processes that integrate seals. */
export const arrivalsChannel = 'hub_arrivals'

export type LogModule = ReturnType<typeof createLogModule>

export function createLogModule(
  deps: Pick<ModuleParts, 'database' | 'cursorKey' | 'keys' | 'directory' | 'clock' | 'events' | 'log'> & {
    records: LogEntryRecords
  },
) {
  const { database, directory, events } = deps
  const logs = createTenantLogs(deps)
  const integrator = new Integrator({
    logs,
    findTenant: (slug) => directory.find(slug, { evenSuspended: true }),
    listTenants: () => directory.slugs(),
    hear: (heard) => listenForTenants(database, arrivalsChannel, heard),
    log: deps.log,
  })
  let notifier: TenantNotifier | undefined
  // Seals are integrated within a second, by this process or by those that integrate.
  events.on('recordsSealed', ({ tenantId }) => (notifier ? notifier.notify(tenantId) : integrator.sealed(tenantId)))
  return {
    logs,
    oldestArrival,
    /** Integrates arrivals. Returns the number of seals, with the names of the command's output. */
    async integrate(tenant: Tenant): Promise<{ added: number; tree_size: number }> {
      const before = await readTenant(database, tenant.slug, logs.head)
      const { treeSize } = await logs.integrate(tenant)
      return { added: treeSize - (before?.treeSize ?? 0), tree_size: treeSize }
    },
    routes: (app: FastifyInstance) =>
      addLogRoutes(app, {
        proofs: createLogProofs({ ...deps, logs }),
        bundles: createProofBundles({ ...deps, logs }),
        feed: createLogFeed({ ...deps, logs }),
      }),
    /** Integrates seals in the background. */
    start: () => integrator.start(),
    /** Notifies the processes that integrate, instead of `start`. */
    tellOthers() {
      notifier ??= new TenantNotifier({ database, channel: arrivalsChannel, pauseMs: 100 })
    },
    async stop() {
      await Promise.all([integrator.stop(), notifier?.settled()])
    },
  }
}

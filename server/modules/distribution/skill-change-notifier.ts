import type { Database, DatabaseLog, TenantTx } from '../../db/database.ts'
import { makeAllDue, notifySkills } from './deliveries-store.ts'

/** Notifies the publishing processes of changes. Nothing waits for it, and it never throws. */
export interface SkillChangeNotifier {
  /** Makes every connector due after a change of a tenant's skills. */
  changed(tenantId: string): void
  /** Notifies processes of a tenant that already has a due connector. */
  tell(tenantId: string): void
  /** Waits until pending notifications are sent. */
  settled(): Promise<void>
}

/**
 * Creates the notifier, which uses its own transactions. A lost notification, for example after a crash, only costs
 * time: every connector is published to within its period, always with the current manifest.
 */
export function createSkillChangeNotifier(deps: {
  database: Pick<Database, 'withTenant' | 'withRegistry'>
  /** Wakes the scheduler of this process. */
  wake: (tenantId: string) => void
  log: Pick<DatabaseLog, 'warn'>
}): SkillChangeNotifier {
  const { database, wake, log } = deps
  /** Pending tenants, and whether their connectors must be made due first. */
  const waiting = new Map<string, boolean>()
  let telling: Promise<void> | undefined

  async function tellAll(): Promise<void> {
    // Several changes in one commit cause one notification.
    await Promise.resolve()
    while (waiting.size > 0) {
      const [[tenantId, makesDue]] = [...waiting] as [[string, boolean]]
      waiting.delete(tenantId)
      try {
        if (makesDue) await database.withTenant(tenantId, (tx: TenantTx) => makeAllDue(tx))
        wake(tenantId)
        await database.withRegistry((tx) => notifySkills(tx, tenantId))
      } catch (error) {
        log.warn({ err: error, tenant: tenantId }, 'a change of skills is published later, in the next round')
      }
    }
    telling = undefined
  }

  function add(tenantId: string, makesDue: boolean): void {
    waiting.set(tenantId, makesDue || waiting.get(tenantId) === true)
    telling ??= tellAll()
  }

  return {
    changed: (tenantId) => add(tenantId, true),
    tell: (tenantId) => add(tenantId, false),
    settled: async () => {
      await telling
    },
  }
}

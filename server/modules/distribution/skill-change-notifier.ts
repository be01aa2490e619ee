import type { Database, DatabaseLog, TenantTx } from '../../db/database.ts'
import { makeAllDue, notifySkills } from './deliveries-store.ts'

/** Gets word of changes to the processes that publish. Nobody waits for it, and it never throws. */
export interface SkillChangeNotifier {
  /** The skills of a tenant have changed: every connector is due. */
  changed(tenantId: string): void
  /** Something is due already. */
  tell(tenantId: string): void
  /** What waits is told. */
  settled(): Promise<void>
}

/**
 * In transactions of their own. Word that is lost, as when the process dies, costs time and no more: every connector is
 * published to within its period anyway, and the manifest is always of now.
 */
export function createSkillChangeNotifier(deps: {
  database: Pick<Database, 'withTenant' | 'withRegistry'>
  /** The publisher of this process. */
  wake: (tenantId: string) => void
  log: Pick<DatabaseLog, 'warn'>
}): SkillChangeNotifier {
  const { database, wake, log } = deps
  /** Tenants that wait, and whether their connectors are to be made due first. */
  const waiting = new Map<string, boolean>()
  let telling: Promise<void> | undefined

  async function tellAll(): Promise<void> {
    // A commit in which several changes happened is told once.
    await Promise.resolve()
    while (waiting.size > 0) {
      const [[tenantId, makesDue]] = [...waiting] as [[string, boolean]]
      waiting.delete(tenantId)
      try {
        if (makesDue) await database.withTenant(tenantId, (tx: TenantTx) => makeAllDue(tx))
        wake(tenantId)
        await database.withRegistry((tx) => notifySkills(tx, tenantId))
      } catch (error) {
        log.warn({ err: error, tenant: tenantId }, 'a change of skills is published later, with the next turn')
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

import type { JsonValue } from '../../../provenance/json.ts'
import type { ModuleParts } from '../../module-parts.ts'
import type { Actor } from './governance-types.ts'

/** Creates the log of an operator's service-wide actions: each concerns every tenant, and is in the log of each. */
export function createServiceEvents(deps: Pick<ModuleParts, 'database' | 'directory' | 'governance'>) {
  const { database, directory, governance } = deps
  return {
    /** Writes the event for every tenant, one transaction each. */
    async tell(event: { subject: string; details: Record<string, JsonValue>; actor: Actor }): Promise<void> {
      for (const slug of await directory.slugs()) {
        const tenant = await directory.find(slug, { evenSuspended: true })
        if (!tenant) continue
        await database.withTenant(slug, (tx) =>
          governance.append(tx, tenant, { kind: 'tenant.config_changed', ...event }),
        )
      }
    },
  }
}

import type { JsonValue } from '../../../provenance/json.ts'
import type { Database } from '../../db/database.ts'
import type { TenantDirectory } from '../tenants/tenants-types.ts'
import type { Actor, GovernanceLog } from './governance-types.ts'

/** Creates the log of an operator's service-wide actions: each concerns every tenant, and is in the log of each. */
export function createServiceEvents(deps: {
  database: Database
  directory: TenantDirectory
  governance: GovernanceLog
}) {
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

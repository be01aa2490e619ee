import type { JsonValue } from '../../../provenance/json.ts'
import type { Database } from '../../db/database.ts'
import type { TenantDirectory } from '../tenants/tenants-types.ts'
import type { Actor, GovernanceLog } from './governance-types.ts'

/** Records an operator's service-wide action in the log of every tenant, because it concerns each of them. */
export interface ServiceEvents {
  /** Writes the event for every tenant, one transaction each. */
  tell(event: { subject: string; details: Record<string, JsonValue>; actor: Actor }): Promise<void>
}

export function createServiceEvents(deps: {
  database: Database
  directory: TenantDirectory
  governance: GovernanceLog
}): ServiceEvents {
  const { database, directory, governance } = deps
  return {
    async tell(event) {
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

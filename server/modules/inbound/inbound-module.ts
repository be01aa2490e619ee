import type { FastifyInstance } from 'fastify'
import type { TenantTx } from '../../db/database.ts'
import type { TenantChore } from '../../jobs/housekeeping.ts'
import type { ModuleParts } from '../../module-parts.ts'
import type { Directory } from '../roster/directory/directory-types.ts'
import type { ResourceReader } from '../roster/sync/sync-types.ts'
import type { Telemetry } from '../telemetry/telemetry-types.ts'
import type { TenantDirectory } from '../tenants/tenants-types.ts'
import { createInboundAccess } from './inbound-access.ts'
import { createInboundInvocations } from './inbound-invocations.ts'
import { createInboundPeople } from './inbound-people.ts'
import { addInboundRoutes } from './inbound-routes.ts'
import type { InboundSecretVault } from './inbound-secrets.ts'
import { createInboundService } from './inbound-service.ts'

/** Creates the receiver of signed messages from identity providers and chat platforms. */
export function createInboundModule(
  deps: Pick<ModuleParts, 'database' | 'masterKey'> & {
    vault: InboundSecretVault
    tenants: TenantDirectory
    /** Returns the platform of a connector; undefined if it does not exist or was removed. */
    platformOf: (tx: TenantTx, connectorId: string) => Promise<string | undefined>
    telemetry: Telemetry
    directory: Directory
    reader: ResourceReader
  },
) {
  const access = createInboundAccess(deps)
  const people = createInboundPeople(deps)
  const inbound = createInboundService({ ...deps, people, invocations: createInboundInvocations(deps) })
  const chores: readonly TenantChore[] = [inbound.chore]
  return { chores, routes: (app: FastifyInstance) => addInboundRoutes(app, access, inbound) }
}

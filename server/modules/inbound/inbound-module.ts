import type { FastifyInstance } from 'fastify'
import type { Database } from '../../db/database.ts'
import type { TenantChore } from '../../jobs/housekeeping.ts'
import type { Connectors } from '../connectors/connectors-types.ts'
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

export interface InboundModule {
  chores: readonly TenantChore[]
  routes(app: FastifyInstance): void
}

/** Creates the receiver of signed messages from identity providers and chat platforms. */
export function createInboundModule(deps: {
  database: Database
  masterKey: Buffer
  vault: InboundSecretVault
  tenants: TenantDirectory
  connectors: Pick<Connectors, 'find'>
  telemetry: Telemetry
  directory: Directory
  reader: ResourceReader
}): InboundModule {
  const access = createInboundAccess(deps)
  const inbound = createInboundService({
    ...deps,
    people: createInboundPeople(deps),
    invocations: createInboundInvocations(deps),
  })
  return { chores: [inbound.chore], routes: (app) => addInboundRoutes(app, access, inbound) }
}

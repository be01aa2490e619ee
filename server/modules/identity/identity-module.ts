import type { FastifyInstance } from 'fastify'
import type { TenantTx } from '../../db/database.ts'
import type { ModuleParts } from '../../module-parts.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import type { InboundSecrets } from '../inbound/inbound-types.ts'
import type { ArchetypeBundle } from '../roster/roster-types.ts'
import type { RosterUpkeep } from '../roster/sync/sync-types.ts'
import { createConnectionSecrets } from './connection-secrets.ts'
import { createProviderDirectory } from './provider-directory.ts'
import { createScimConnections, createScimTokens } from './scim/scim-connections.ts'
import { addScimRoutes } from './scim/scim-routes.ts'
import { ScimService } from './scim/scim-service.ts'
import { createScimSources } from './scim/scim-source.ts'
import { createScimTester } from './scim/scim-tester.ts'
import { createSsoHealth } from './sso-health.ts'
import { addSsoRoutes } from './sso-routes.ts'
import { createSsoService } from './sso-service.ts'
import { createSsoTester } from './sso-tester.ts'

type ScimAccess = ReturnType<typeof createScimAccess>

/** Provides access to tenants' directories, which the roster needs before the identity module is created. */
export function createScimAccess(
  deps: Pick<ModuleParts, 'database' | 'masterKey' | 'secrets' | 'log'> & {
    /** The outbound client for directories, whose responses may be larger and slower. */
    directoryOutbound: Outbound
  },
) {
  const tokens = createScimTokens(deps.masterKey)
  return {
    tokens,
    connections: createScimConnections({ ...deps, tokens }),
    sources: createScimSources(deps.directoryOutbound),
  }
}

export function createIdentityModule(
  deps: Pick<ModuleParts, 'database' | 'masterKey' | 'governance' | 'secrets' | 'log'> & {
    outbound: Outbound
    scim: ScimAccess
    inboundSecrets: InboundSecrets
    archetypes: ArchetypeBundle
    upkeep: RosterUpkeep
  },
) {
  const secrets = createConnectionSecrets(deps.masterKey)
  const sso = createSsoService({ ...deps, secrets })
  const { connections, tokens } = deps.scim
  // Configuring or testing a connection is interactive, so these requests use the short limits.
  const askingSources = createScimSources(deps.outbound)
  const scim = new ScimService({ ...deps, tokens, connections, sources: askingSources })
  return {
    providers: createProviderDirectory({ ...deps, secrets }),
    ssoHealth: createSsoHealth(deps),
    /** Returns the archetypes that the tenant's group mapping names but its bundle lacks. */
    unknownArchetypes: (tx: TenantTx) => scim.unknownArchetypes(tx),
    routes: (app: FastifyInstance) => {
      addSsoRoutes(app, sso, createSsoTester({ ...deps, secrets }))
      addScimRoutes(app, scim, createScimTester({ ...deps, connections, sources: askingSources }))
    },
  }
}

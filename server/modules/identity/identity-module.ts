import type { FastifyInstance } from 'fastify'
import type { Database, DatabaseLog, TenantTx } from '../../db/database.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import type { TenantSecrets } from '../cmek/cmek-types.ts'
import type { GovernanceLog } from '../governance/governance-types.ts'
import type { InboundSecrets } from '../inbound/inbound-types.ts'
import type { ArchetypeBundle } from '../roster/roster-types.ts'
import type { RosterUpkeep, ScimConnections } from '../roster/sync/sync-types.ts'
import { createConnectionSecrets } from './connection-secrets.ts'
import type { IdentityProviders, SsoHealthReader } from './identity-types.ts'
import { createProviderDirectory } from './provider-directory.ts'
import { createScimConnections, createScimTokens } from './scim/scim-connections.ts'
import { addScimRoutes } from './scim/scim-routes.ts'
import { ScimService } from './scim/scim-service.ts'
import { createScimSources } from './scim/scim-source.ts'
import type { ScimSources } from './scim/scim-source-types.ts'
import { createScimTester } from './scim/scim-tester.ts'
import { createSsoHealth } from './sso-health.ts'
import { addSsoRoutes } from './sso-routes.ts'
import { createSsoService } from './sso-service.ts'
import { createSsoTester } from './sso-tester.ts'

export interface IdentityModule {
  providers: IdentityProviders
  ssoHealth: SsoHealthReader
  scimConnections: ScimConnections
  scimSources: ScimSources
  /** Returns the archetypes that the tenant's group mapping names but its bundle lacks. */
  unknownArchetypes(tx: TenantTx): Promise<string[]>
  routes(app: FastifyInstance): void
  /** Waits for background writes. Call it before the database closes. */
  settled(): Promise<void>
}

export function createIdentityModule(deps: {
  database: Database
  masterKey: Buffer
  governance: GovernanceLog
  outbound: Outbound
  /** The outbound client for directories, whose responses may be larger and slower. */
  directoryOutbound: Outbound
  tenantSecrets: TenantSecrets
  inboundSecrets: InboundSecrets
  archetypes: ArchetypeBundle
  upkeep: () => RosterUpkeep
  log: DatabaseLog
}): IdentityModule {
  const secrets = createConnectionSecrets(deps.masterKey)
  const sso = createSsoService({ ...deps, secrets })
  const tokens = createScimTokens(deps.masterKey)
  const connections = createScimConnections({ ...deps, secrets: deps.tenantSecrets, tokens })
  // Configuring or testing a connection is interactive, so these requests use the short limits.
  const askingSources = createScimSources(deps.outbound)
  const scim = new ScimService({
    ...deps,
    secrets: deps.tenantSecrets,
    tokens,
    connections,
    sources: askingSources,
  })
  return {
    providers: createProviderDirectory({ ...deps, secrets }),
    ssoHealth: createSsoHealth(deps),
    scimConnections: connections,
    scimSources: createScimSources(deps.directoryOutbound),
    unknownArchetypes: (tx) => scim.unknownArchetypes(tx),
    routes: (app) => {
      addSsoRoutes(app, sso, createSsoTester({ ...deps, secrets }))
      addScimRoutes(app, scim, createScimTester({ ...deps, connections, sources: askingSources }))
    },
    settled: () => connections.settled(),
  }
}

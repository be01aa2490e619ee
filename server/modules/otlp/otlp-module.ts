import type { FastifyInstance } from 'fastify'
import type { ModuleParts } from '../../module-parts.ts'
import type { BasicAuthenticator } from '../auth/auth-types.ts'
import type { SkillRegistry } from '../entitlement/entitlement-types.ts'
import type { Records } from '../records/records-types.ts'
import type { UserReferences } from '../roster/roster-types.ts'
import type { KeyedIngest } from '../telemetry/telemetry-types.ts'
import { createOtlpMappings } from './mapping/mapping-service.ts'
import { createSessionSkills } from './mapping/session-skills.ts'
import { addMappingRoutes, addOtlpProtocol } from './otlp-routes.ts'
import { createOtlpIngest } from './otlp-service.ts'
import { createSkillRegistration } from './skill-registration.ts'

export interface OtlpModule {
  routes(app: FastifyInstance): void
}

/** Creates the OpenTelemetry receiver: spans and log records of OTLP/HTTP become telemetry events. */
export function createOtlpModule(
  deps: Pick<ModuleParts, 'database' | 'governance' | 'events'> & {
    records: Records
    skills: SkillRegistry
    references: UserReferences
    telemetry: KeyedIngest
    basic: BasicAuthenticator
  },
): OtlpModule {
  const mappings = createOtlpMappings(deps)
  const registerSkills = createSkillRegistration(deps)
  const ingest = createOtlpIngest({ ...deps, registerSkills, readSessionSkills: createSessionSkills(deps.database) })
  return {
    routes(app) {
      addMappingRoutes(app, mappings)
      addOtlpProtocol(app, { basic: deps.basic, ingest, mappings })
    },
  }
}

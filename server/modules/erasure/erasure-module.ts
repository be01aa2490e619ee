import type { FastifyInstance } from 'fastify'
import type { ModuleParts } from '../../module-parts.ts'
import type { RetentionPolicy } from '../retention/retention-types.ts'
import { createDeletionCertificates } from './certificate-service.ts'
import { createDestructionRules } from './destruction-rules.ts'
import { createErasureJob } from './erasure-job.ts'
import { addErasureRoutes } from './erasure-routes.ts'
import { createErasure } from './erasure-service.ts'

/** Creates the erasure of purged records, its job, deletion certificates, and the rules for destroying all content. */
export function createErasureModule(
  deps: Parameters<typeof createErasure>[0] & Pick<ModuleParts, 'directory' | 'logs'> & { retention: RetentionPolicy },
) {
  const erasure = createErasure(deps)
  const certificates = createDeletionCertificates(deps)
  return {
    erasure,
    certificates,
    destruction: createDestructionRules(deps),
    routes: (app: FastifyInstance) => addErasureRoutes(app, certificates),
    jobs: [createErasureJob({ ...deps, erasure })],
  }
}

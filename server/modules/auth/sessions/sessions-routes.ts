import type { FastifyInstance } from 'fastify'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import type { Sessions } from '../auth-types.ts'

export function addSessionRoutes(
  _app: FastifyInstance,
  _deps: { sessions: Sessions; directory: TenantDirectory; browserUrl: () => string },
): void {}

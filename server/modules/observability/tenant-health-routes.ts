import type { FastifyInstance } from 'fastify'
import { addRoute } from '../../http/route.ts'
import { TenantHealthAnswer } from './tenant-health-schemas.ts'
import type { TenantHealthReader } from './tenant-health-types.ts'

export function addTenantHealthRoutes(app: FastifyInstance, health: TenantHealthReader): void {
  addRoute(
    app,
    'getTenantHealth',
    {
      description:
        'Accepts any valid token of the tenant. Each check has figures, and explains what is missing and which ' +
        'operation to call.',
      response: { 200: TenantHealthAnswer },
    },
    async (request) => health.of(request.caller),
  )
}

import type { FastifyInstance } from 'fastify'
import { addRoute } from '../../http/route.ts'
import { TenantDetailsAnswer, TenantDetailsBody } from './tenant-schemas.ts'
import type { TenantSettings } from './tenants-types.ts'

export function addTenantSettingsRoutes(app: FastifyInstance, settings: TenantSettings): void {
  addRoute(app, 'getTenant', { response: { 200: TenantDetailsAnswer } }, async (request) =>
    settings.get(request.caller),
  )

  addRoute(
    app,
    'replaceTenant',
    {
      description:
        'Sending the details as they are confirms them, the first time with an event (`tenant.config_changed`). ' +
        'Mode, addresses and the administrator’s address are the operator’s to change.',
      body: TenantDetailsBody,
      response: { 200: TenantDetailsAnswer },
    },
    async (request) => settings.replace(request.caller, request.body),
  )
}

import type { FastifyInstance } from 'fastify'
import type { ValidParts } from '../../http/body/valid-parts.ts'
import { addRoute } from '../../http/route.ts'
import { TenantDetailsAnswer, TenantDetailsBody } from './tenant-schemas.ts'
import type { DetailsSent, TenantSettings } from './tenants-types.ts'

export function addTenantSettingsRoutes(app: FastifyInstance, settings: TenantSettings): void {
  addRoute(
    app,
    'getTenant',
    {
      description: 'Settings that PUT confirms or changes, and settings that only the operator can change.',
      response: { 200: TenantDetailsAnswer },
    },
    async (request) => settings.get(request.caller),
  )

  addRoute(
    app,
    'replaceTenant',
    {
      description:
        'Changes `display_name` and `contact_email`; what is left out stays. Sending the details as they are, or none, ' +
        'confirms them, the first time with an event (`tenant.config_changed`). The other members of the answer may be ' +
        'sent as they are: mode, addresses and the administrator’s address are the operator’s to change.',
      body: TenantDetailsBody,
      bodyOptional: true,
      checkBody: (body: ValidParts<DetailsSent>) => settings.problemsIn(body),
      response: { 200: TenantDetailsAnswer },
    },
    async (request) => settings.replace(request.caller, request.body),
  )
}

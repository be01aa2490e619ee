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
      description: 'Returns the settings that PUT can change, and those that only the operator can change.',
      response: { 200: TenantDetailsAnswer },
    },
    async (request) => settings.get(request.caller),
  )

  addRoute(
    app,
    'replaceTenant',
    {
      description:
        'Changes `display_name` and `contact_email`; absent members stay unchanged. Sending the current details, ' +
        'or none, confirms them, the first time with an event (`tenant.config_changed`). The other members of the ' +
        'response are accepted if unchanged: only the operator can change mode, addresses and the administrator’s ' +
        'address.',
      body: TenantDetailsBody,
      bodyOptional: true,
      checkBody: (body: ValidParts<DetailsSent>) => settings.problemsIn(body),
      response: { 200: TenantDetailsAnswer },
    },
    async (request) => settings.replace(request.caller, request.body),
  )
}

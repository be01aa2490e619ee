import type { FastifyInstance } from 'fastify'
import type { ValidParts } from '../../http/body/valid-parts.ts'
import { addRoute } from '../../http/route.ts'
import { ProvisionBody, ProvisionResponse } from './provision-schemas.ts'
import type { ProvisionRequest, ProvisionService } from './provision-service.ts'
import { TenantDetailsBody, TenantDetailsResponse } from './tenant-schemas.ts'
import type { TenantSettings } from './tenant-settings-service.ts'
import type { DetailsSent } from './tenants-types.ts'

/** Adds the routes by which a tenant manages itself. */
export function addTenantsRoutes(app: FastifyInstance, settings: TenantSettings, provision: ProvisionService): void {
  addRoute(
    app,
    'getTenant',
    {
      description: 'Returns the settings that PUT can change, and those that only the operator can change.',
      response: { 200: TenantDetailsResponse },
    },
    async (request) => settings.get(request.caller),
  )

  addRoute(
    app,
    'replaceTenant',
    {
      description:
        'Changes `display_name`, `contact_email` and `search_language`; absent members stay unchanged. Sending the current details, ' +
        'or none, confirms them, the first time with an event (`tenant.config_changed`). The other members of the ' +
        'response are accepted if unchanged: only the operator can change mode, addresses and the administrator’s ' +
        'address.',
      body: TenantDetailsBody,
      bodyOptional: true,
      checkBody: (body: ValidParts<DetailsSent>) => settings.problemsIn(body),
      response: { 200: TenantDetailsResponse },
    },
    async (request) => settings.replace(request.caller, request.body),
  )

  addRoute(
    app,
    'provisionHub',
    {
      description:
        'Provisions the Hub of the tenant. Can be repeated; absent members stay unchanged. A tenant in Mode B ' +
        'must name its own key, `cmek`, before it can write.',
      body: ProvisionBody,
      bodyOptional: true,
      checkBody: (body: ValidParts<ProvisionRequest>, { caller }) => provision.problemsIn(caller.tenant, body),
      response: { 200: ProvisionResponse },
      problems: ['concurrent-modification'],
    },
    async (request) => provision.provision(request.caller, request.body),
  )

  addRoute(
    app,
    'getProvision',
    {
      description: 'In Mode B it includes the key that wraps the content keys.',
      response: { 200: ProvisionResponse },
    },
    async (request) => provision.get(request.caller),
  )
}

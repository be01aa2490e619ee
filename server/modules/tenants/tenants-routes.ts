import type { FastifyInstance } from 'fastify'
import type { ValidParts } from '../../http/body/valid-parts.ts'
import { addRoute } from '../../http/route.ts'
import type { ProvisionRequest, ProvisionService } from './provision-service.ts'
import { ProvisionAnswer, ProvisionBody } from './tenants-schemas.ts'

export function addTenantsRoutes(app: FastifyInstance, { provision }: { provision: ProvisionService }): void {
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
      response: { 200: ProvisionAnswer },
      problems: ['concurrent-modification'],
    },
    async (request) => provision.provision(request.caller, request.body),
  )

  addRoute(
    app,
    'getProvision',
    {
      description: 'In Mode B it includes the key that wraps the content keys.',
      response: { 200: ProvisionAnswer },
    },
    async (request) => provision.get(request.caller),
  )
}

import type { FastifyInstance } from 'fastify'
import { addPage } from '../../http/page.ts'
import { addRoute } from '../../http/route.ts'
import type { ProvisionService } from './provision-service.ts'
import { ProvisionAnswer, ProvisionBody } from './tenants-schemas.ts'
import type { WelcomeLinkOpener } from './welcome-links-service.ts'
import { closedLinkPage, welcomePage } from './welcome-page.ts'

export function addTenantsRoutes(
  app: FastifyInstance,
  { provision, openWelcomeLink }: { provision: ProvisionService; openWelcomeLink: WelcomeLinkOpener },
): void {
  addRoute(
    app,
    'provisionHub',
    {
      description: 'Provisions the Hub of the tenant. It may be repeated; what is left out of the body stays.',
      body: ProvisionBody,
      bodyOptional: true,
      response: { 200: ProvisionAnswer },
      problems: ['hub-not-provisioned'],
    },
    async (request) => provision.provision(request.caller, request.body),
  )

  addRoute(app, 'getProvision', { response: { 200: ProvisionAnswer } }, async (request) =>
    provision.get(request.caller),
  )

  addPage(app, '/welcome/:tenant/:token', async (request) => {
    const { tenant, token } = request.params as { tenant: string; token: string }
    const served = request.hostTenant === null || request.hostTenant.slug === tenant
    const link = served ? await openWelcomeLink(tenant, token) : undefined
    return { ...(link ? welcomePage(link.tenant, link.expiresAt) : closedLinkPage()), noStore: true }
  })
}

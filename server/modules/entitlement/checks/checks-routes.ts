import type { FastifyInstance } from 'fastify'
import { addRoute } from '../../../http/route.ts'
import { CheckQuery, ChecksBody, ChecksSchema, EntitlementSchema } from './checks-schemas.ts'
import type { EntitlementChecks } from './checks-service.ts'

const rule =
  'A user may use a skill that is granted to one of their archetypes, from its publication until its retirement. ' +
  'A deprecated skill is allowed with a warning.'

export function addCheckRoutes(app: FastifyInstance, checks: EntitlementChecks): void {
  addRoute(
    app,
    'checkEntitlement',
    { description: rule, querystring: CheckQuery, response: { 200: EntitlementSchema } },
    async (request) => {
      const { user_id, skill_id } = request.query
      const [answer] = await checks.check(request.caller.tenant, [{ user_id, skill_id }])
      return answer!
    },
  )

  addRoute(
    app,
    'checkEntitlements',
    { description: rule, body: ChecksBody, response: { 200: ChecksSchema } },
    async (request) => ({ results: await checks.check(request.caller.tenant, request.body.checks) }),
  )
}

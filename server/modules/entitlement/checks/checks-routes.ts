import type { FastifyInstance } from 'fastify'
import { addRoute } from '../../../http/route.ts'
import { CheckQuery, ChecksBody, ChecksSchema, EntitlementSchema } from './checks-schemas.ts'
import { checkEntitlements } from './checks-service.ts'

const rule =
  'A user may use a skill that is granted to one of their archetypes, from its publication until its retirement. ' +
  'A deprecated skill is allowed with a warning.'

export function addCheckRoutes(app: FastifyInstance, deps: Parameters<typeof checkEntitlements>[0]): void {
  addRoute(
    app,
    'checkEntitlement',
    { description: rule, querystring: CheckQuery, response: { 200: EntitlementSchema } },
    async (request) => {
      const { user_id, skill_id } = request.query
      const [answer] = await checkEntitlements(deps, request.caller.tenant, [{ user_id, skill_id }])
      return answer!
    },
  )

  addRoute(
    app,
    'checkEntitlements',
    { description: rule, body: ChecksBody, response: { 200: ChecksSchema } },
    async (request) => ({ results: await checkEntitlements(deps, request.caller.tenant, request.body.checks) }),
  )
}

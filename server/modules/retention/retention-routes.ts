import type { FastifyInstance } from 'fastify'
import { addRoute } from '../../http/route.ts'
import { RetentionBody, RetentionSchema } from './retention-schemas.ts'
import type { Retention } from './retention-service.ts'

export function addRetentionRoutes(app: FastifyInstance, retention: Retention): void {
  addRoute(
    app,
    'getRetentionRules',
    {
      description: 'The ages that records are kept for at least and at most, by record type.',
      response: { 200: RetentionSchema },
    },
    async (request) => retention.get(request.caller.tenant),
  )

  addRoute(
    app,
    'replaceRetentionRules',
    {
      description:
        'Replaces all rules. A record of a type without a rule stays until somebody purges it, who may do so at once. ' +
        'What the service purges by `max_days` can be restored for 30 days, as anything else that is purged.',
      body: RetentionBody,
      response: { 200: RetentionSchema },
    },
    async (request) => retention.replace(request.caller, request.body),
  )
}

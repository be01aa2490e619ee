import type { FastifyInstance } from 'fastify'
import { addRoute } from '../../http/route.ts'
import { RetentionBody, RetentionSchema } from './retention-schemas.ts'
import type { Retention } from './retention-service.ts'

export function addRetentionRoutes(app: FastifyInstance, retention: Retention): void {
  addRoute(
    app,
    'getRetentionRules',
    {
      description: 'Returns the minimum and maximum age of records by record type.',
      response: { 200: RetentionSchema },
    },
    async (request) => retention.get(request.caller.tenant),
  )

  addRoute(
    app,
    'replaceRetentionRules',
    {
      description:
        'Replaces all rules. Records of a type without a rule are kept until someone purges them, at any age. ' +
        'Records that the service purges by `max_days` can be restored for 30 days like all purged records.',
      body: RetentionBody,
      response: { 200: RetentionSchema },
    },
    async (request) => retention.replace(request.caller, request.body),
  )
}

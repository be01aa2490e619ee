import type { FastifyInstance } from 'fastify'
import { addRoute } from '../../../http/route.ts'
import { QueuedRepricing, RepricingBody } from './repricing-schemas.ts'
import type { TelemetryRepricing } from './repricing-types.ts'

export function addRepricingRoutes(app: FastifyInstance, rating: TelemetryRepricing): void {
  addRoute(
    app,
    'rateTelemetryAgain',
    {
      description:
        'Computes the costs of stored events with from ≤ ts < to again, at the tenant’s prices of now for their ' +
        'times, in the background. Records keep the cost they were stored with; summary, reconciliation and its ' +
        'exceptions follow the last rating. Ends with a governance event `telemetry.rerated`. Repeating it changes ' +
        'nothing while the prices stay.',
      body: RepricingBody,
      response: { 202: QueuedRepricing },
    },
    async (request, reply) => {
      reply.code(202)
      return rating.request(request.caller, request.body)
    },
  )
}

import type { FastifyInstance } from 'fastify'
import { addRoute } from '../../../http/route.ts'
import { QueuedRating, RatingBody } from './repricing-schemas.ts'
import type { TelemetryRating } from './repricing-types.ts'

export function addRatingRoutes(app: FastifyInstance, rating: TelemetryRating): void {
  addRoute(
    app,
    'rateTelemetryAgain',
    {
      description:
        'Computes the costs of stored events with from ≤ ts < to again, at the tenant’s prices of now for their ' +
        'times, in the background. Records keep the cost they were stored with; summary, reconciliation and its ' +
        'exceptions follow the last rating. Ends with a governance event `telemetry.rerated`. Repeating it changes ' +
        'nothing while the prices stay.',
      body: RatingBody,
      response: { 202: QueuedRating },
    },
    async (request, reply) => {
      reply.code(202)
      return rating.request(request.caller, request.body)
    },
  )
}

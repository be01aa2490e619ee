import type { FastifyInstance } from 'fastify'
import { addRoute } from '../../../http/route.ts'
import { PriceListSchema, PricesBody, QueuedRepricing, RepricingBody } from './prices-schemas.ts'
import type { Prices } from './prices-service.ts'
import type { TelemetryRepricing } from './repricing-types.ts'

export function addPricesRoutes(app: FastifyInstance, prices: Prices): void {
  addRoute(
    app,
    'getPrices',
    {
      description:
        "The tenant's own prices go before the catalogue's: one with the event's platform before one without, each in " +
        'its time.',
      response: { 200: PriceListSchema },
    },
    async (request) => prices.get(request.caller.tenant),
  )

  addRoute(
    app,
    'replacePrices',
    {
      description:
        'Replaces the whole list. Events that are ingested from now on are rated by it, also those with an earlier ' +
        '`ts`; what is stored keeps its cost until it is rated again.',
      body: PricesBody,
      // The handler checks more than the schema: times, decimals, and duplicate entries.
      bodyChecked: 'by handler',
      response: { 200: PriceListSchema },
    },
    async (request) => prices.replace(request.caller, request.body),
  )
}

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

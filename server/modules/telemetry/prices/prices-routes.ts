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
        "The tenant's own prices take precedence over the catalogue, and a price for the platform of the event " +
        'over one for every platform.',
      response: { 200: PriceListSchema },
    },
    async (request) => prices.get(request.caller.tenant),
  )

  addRoute(
    app,
    'replacePrices',
    {
      description:
        'Replaces the whole list. It applies to events ingested from now on, including those with an earlier ' +
        '`ts`. Stored events keep their cost until they are repriced.',
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
        'Recalculates the costs of stored events with from ≤ `ts` < to in the background, with the current price ' +
        'list at the time of each event. Records keep their original cost; summary, reconciliation and cost ' +
        'exceptions use the last pricing. Ends with a governance event `telemetry.rerated`. Repeating it changes ' +
        'nothing if the prices are the same.',
      body: RepricingBody,
      response: { 202: QueuedRepricing },
    },
    async (request, reply) => {
      reply.code(202)
      return rating.request(request.caller, request.body)
    },
  )
}

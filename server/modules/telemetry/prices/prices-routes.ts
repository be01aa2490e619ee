import type { FastifyInstance } from 'fastify'
import { addRoute } from '../../../http/route.ts'
import type { Prices } from './price-override-types.ts'
import { PriceListSchema, PricesBody } from './prices-schemas.ts'

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

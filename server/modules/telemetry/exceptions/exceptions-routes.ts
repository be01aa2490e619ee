import type { FastifyInstance } from 'fastify'
import { addRoute } from '../../../http/route.ts'
import { scannedMax } from './exceptions-reader.ts'
import { ExceptionsPage, exceptionsQuery } from './exceptions-schemas.ts'
import type { CostExceptions } from './exceptions-service.ts'

export function addExceptionsRoutes(app: FastifyInstance, exceptions: CostExceptions): void {
  addRoute(
    app,
    'listCostExceptions',
    {
      description: `Returns events whose costs disagree by their last pricing, without purged ones. A request scans at most ${scannedMax.toLocaleString('en')} records, so a page can have fewer items than \`limit\`, or none, and still have a \`next_cursor\`: follow it with the same parameters until it is null.`,
      querystring: exceptionsQuery,
      response: { 200: ExceptionsPage },
    },
    async (request) => exceptions.list(request.caller.tenant, request.query),
  )
}

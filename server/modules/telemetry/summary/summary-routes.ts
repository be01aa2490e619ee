import type { FastifyInstance } from 'fastify'
import { addRoute } from '../../../http/route.ts'
import { ReconciliationPage, SummaryPage, summaryQuery } from './summary-schemas.ts'
import type { TelemetrySummaries } from './summary-service.ts'

const counted =
  'Counts and sums are exact and include each event as soon as its 201 is sent. Deleting records changes nothing ' +
  'in them. Follow `next_cursor` with the same parameters until it is null.'

export function addSummaryRoutes(app: FastifyInstance, summaries: TelemetrySummaries): void {
  addRoute(
    app,
    'summarizeTelemetry',
    {
      description: `Events by \`ts\`, from ≤ ts < to, in one row for each interval and key. ${counted}`,
      querystring: summaryQuery,
      response: { 200: SummaryPage },
    },
    async (request) => summaries.summarize(request.caller.tenant, request.query),
  )

  addRoute(
    app,
    'reconcileTelemetry',
    {
      description: `Compares reported with calculated costs, in the rows of the summary with the same parameters. ${counted}`,
      querystring: summaryQuery,
      response: { 200: ReconciliationPage },
    },
    async (request) => summaries.reconcile(request.caller.tenant, request.query),
  )
}

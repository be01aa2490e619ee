import type { FastifyInstance } from 'fastify'
import { sessionEventsCounted, sessionsScannedMax } from '../../../../contract/limits.ts'
import { addRoute } from '../../../http/route.ts'
import {
  SessionList,
  SessionSteps,
  sessionParams,
  sessionsQuery,
  stepsQuery,
  TraceSteps,
  traceParams,
} from './traces-schemas.ts'
import type { Traces } from './traces-service.ts'

const stepsDescription =
  'Purged events are left out. A page reads events in the order of storage, and its steps are a tree of their own: the ' +
  'parent of a step may be on another page. Costs are those of the last pricing.'

export function addTracesRoutes(app: FastifyInstance, traces: Traces): void {
  addRoute(
    app,
    'listTelemetrySessions',
    {
      description:
        'Returns sessions that have a telemetry event of all filters, by their newest event. Numbers are over the newest ' +
        `${sessionEventsCounted} events of a session, purged ones excluded. A request scans at most ` +
        `${sessionsScannedMax.toLocaleString('en')} events, so a page can have fewer items than \`limit\`, or none, and ` +
        'still have a `next_cursor`: follow it with the same parameters until it is null.',
      querystring: sessionsQuery,
      response: { 200: SessionList },
      problems: ['invalid-cursor'],
    },
    async ({ caller, query }) => traces.sessions(caller.tenant, query),
  )

  addRoute(
    app,
    'getTelemetrySession',
    {
      description: `Returns the telemetry events of a session as a tree of spans. ${stepsDescription}`,
      params: sessionParams,
      querystring: stepsQuery,
      response: { 200: SessionSteps },
      problems: ['not-found', 'invalid-cursor'],
    },
    async ({ caller, params: { session_id }, query }) => ({
      session_id,
      ...(await traces.session(caller.tenant, session_id, query)),
    }),
  )

  addRoute(
    app,
    'getTrace',
    {
      description: `Returns the telemetry events of a trace as a tree of spans. ${stepsDescription}`,
      params: traceParams,
      querystring: stepsQuery,
      response: { 200: TraceSteps },
      problems: ['not-found', 'invalid-cursor'],
    },
    async ({ caller, params: { trace_id }, query }) => ({
      trace_id,
      ...(await traces.trace(caller.tenant, trace_id, query)),
    }),
  )
}

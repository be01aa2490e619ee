import type { FastifyInstance } from 'fastify'
import { type Logger, pino } from 'pino'
import type { Config } from '../config.ts'
import { runAs } from '../tracing/current-work.ts'

/**
 * Creates the log of the service: JSON lines, or text on a terminal in development. Values that strangers choose
 * (addresses, headers, bodies) are not logged; all others go through JSON, so no line can be forged.
 *
 * @param destination replaces stdout in tests
 * @param exportLine receives each line besides
 */
export function createLogger(
  config: Pick<Config, 'logLevel' | 'environment'>,
  destination?: { write(line: string): void },
  exportLine?: (line: string) => void,
): Logger {
  const options = {
    level: config.logLevel,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeError, req: () => undefined, res: () => undefined },
  }
  if (exportLine) {
    const level = config.logLevel === 'silent' ? 'fatal' : config.logLevel
    const streams = [{ stream: destination ?? pino.destination(1) }, { stream: { write: exportLine } }]
    return pino(options, pino.multistream(streams.map((each) => ({ ...each, level }))))
  }
  if (destination) return pino(options, destination)
  if (config.environment === 'development' && process.stdout.isTTY) {
    return pino({ ...options, transport: { target: 'pino-pretty', options: { singleLine: true } } })
  }
  return pino(options)
}

/** Returns name, message, code and stack. Other members may contain values of rows or headers, so they are omitted. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return { type: typeof error }
  const { code } = error as { code?: unknown }
  return {
    type: error.name,
    message: error.message,
    ...(typeof code === 'string' && { code }),
    stack: error.stack,
    ...(error.cause !== undefined && { cause: describeError(error.cause) }),
  }
}

/** Logs one line for each request: never its address, headers or body, which may contain secrets. */
export function logRequests(app: FastifyInstance): void {
  app.decorateRequest('problemSlug', null)
  app.addHook('onResponse', (request, reply, done) => {
    // The end of a response is an event of the connection, which belongs to no request.
    runAs(request.work, () =>
      request.log.info(
        {
          method: request.method,
          route: request.routeOptions.config.route?.operation.path ?? request.routeOptions.url,
          status: reply.statusCode,
          ms: Math.round(reply.elapsedTime * 10) / 10,
          tenant: request.hubTenant?.slug,
          client_id: request.admittedCaller?.clientId,
          problem: request.problemSlug ?? undefined,
        },
        'request',
      ),
    )
    done()
  })
}

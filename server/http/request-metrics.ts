import type { FastifyInstance } from 'fastify'
import type { OperationId } from '../../contract/operations.ts'

/** Receives the facts of each response. */
export interface RequestCounter {
  /**
   * Counts a response.
   *
   * @param operation operationId, name of a protocol such as `scim`, or `none` for an address that does not exist
   */
  requestAnswered(operation: string, status: number, seconds: number): void
  tokenIssued(operation: string): void
}

const tokenOperations: ReadonlySet<OperationId> = new Set(['issueServiceToken', 'issueUserToken'])

/** Counts every response by its operation and status, and the issued tokens. Call it before adding any route. */
export function countRequests(app: FastifyInstance, metrics: RequestCounter): void {
  app.addHook('onResponse', async (request, reply) => {
    const { route, protocol } = request.routeOptions.config
    const operation = route?.operationId
    metrics.requestAnswered(operation ?? protocol?.name ?? 'none', reply.statusCode, reply.elapsedTime / 1000)
    if (operation && reply.statusCode === 200 && tokenOperations.has(operation)) metrics.tokenIssued(operation)
  })
}

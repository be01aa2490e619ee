import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../contract/domain-error.ts'
import { clearSignInCookies, hasCookie } from './cookies.ts'
import type { RouteSchema } from './route-schema.ts'

type Way = NonNullable<RouteSchema['credentials']>[number]

const names: Partial<Record<Way, string>> = {
  session: 'session cookie',
  refresh: 'refresh cookie',
  bearer: 'access token',
}

/**
 * Refuses a request without any of the credentials that its operation accepts, before any other check. The handler
 * checks the credential itself; one in the body is visible only later.
 *
 * @throws DomainError `authentication-failed`
 */
export function checkSomeCredential(
  request: FastifyRequest,
  reply: FastifyReply,
  ways: readonly Way[] = ['body'],
): void {
  if (ways.some((way) => isShown(request, way))) return
  clearSignInCookies(reply)
  const missing = ways.map((way) => names[way]).join(' and no ')
  throw new DomainError('authentication-failed', `The request has no ${missing}. Sign in first.`)
}

function isShown(request: FastifyRequest, way: Way): boolean {
  // The operator's token has its own check (see operator-access.ts); a signature is checked with the body.
  if (way === 'body' || way === 'operator' || way === 'signature') return true
  if (way === 'session' || way === 'refresh') return hasCookie(request, way)
  return request.headers.authorization !== undefined
}

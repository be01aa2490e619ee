import { hash, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../contract/domain-error.ts'
import { clearSignInCookies, hasCookie } from './cookies.ts'
import { countHeader } from './request-headers.ts'
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
  // The operator's token has its own check (see {@link checkOperator}); a signature is checked with the body.
  if (way === 'body' || way === 'operator' || way === 'signature') return true
  if (way === 'session' || way === 'refresh') return hasCookie(request, way)
  return request.headers.authorization !== undefined
}

/** Returns the caller of the operator's operations, for governance events. */
export function operatorOf(request: FastifyRequest): { operator: string; address: string; requestId: string } {
  return { operator: 'api', address: request.callerAddress, requestId: request.id }
}

/** The key by which the operator's calls are counted. */
const operatorId = 'operator'

/**
 * Authenticates the operator: `Authorization: Bearer` with HUB_OPERATOR_TOKEN, compared in constant time, only at the
 * common address. All others get the same error, whether or not a token is configured.
 *
 * @throws DomainError `authentication-failed`, or `rate-limited`
 */
export async function checkOperator(request: FastifyRequest, operatorToken: string | undefined): Promise<void> {
  const shown = countHeader(request, 'authorization') > 1 ? undefined : request.headers.authorization
  const token = /^Bearer +([\x21-\x7e]+)$/i.exec(shown ?? '')?.[1]
  // Hashing hides the length from timing too.
  const isRight = timingSafeEqual(hash('sha256', token ?? '', 'buffer'), hash('sha256', operatorToken ?? '', 'buffer'))
  if (!isRight || token === undefined || operatorToken === undefined || request.hostTenant !== null) {
    throw new DomainError(
      'authentication-failed',
      'This operation takes the token of the operator, as `Authorization: Bearer <token>`, at the common address of ' +
        'the service: the value of HUB_OPERATOR_TOKEN that it was started with. Where that is not set, nobody gets in. ' +
        'Access tokens of tenants are not taken.',
    )
  }
  await request.credentialCharges.succeed(operatorId)
}

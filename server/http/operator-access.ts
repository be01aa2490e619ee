import { hash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { DomainError } from '../../contract/domain-error.ts'
import { countHeader } from './request-headers.ts'

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

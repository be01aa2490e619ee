import { hash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { DomainError } from '../../contract/domain-error.ts'
import { countHeader } from './request-headers.ts'

/** Who calls the operator's operations, in governance events. */
export function operatorOf(request: FastifyRequest): { operator: string; address: string; requestId: string } {
  return { operator: 'api', address: request.callerAddress, requestId: request.id }
}

/** What the operator's calls are counted by. */
const operatorId = 'operator'

/**
 * Lets the operator in: `Authorization: Bearer` with HUB_OPERATOR_TOKEN, compared in constant time, at the common
 * address only. One answer for everybody else, whether or not a token is configured.
 *
 * @throws DomainError `authentication-failed`, or `rate-limited`
 */
export async function checkOperator(request: FastifyRequest, operatorToken: string | undefined): Promise<void> {
  const shown = countHeader(request, 'authorization') > 1 ? undefined : request.headers.authorization
  const token = /^Bearer +([\x21-\x7e]+)$/i.exec(shown ?? '')?.[1]
  // Hashed, so that the time does not tell the length either.
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

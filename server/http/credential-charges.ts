import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AccessChecksOptions } from './access-checks.ts'
import { callerCharges, quotasOf, rateLimited, setRateLimitHeaders, strangerCharges } from './rate-limit-headers.ts'

/** The rate limit of an operation with a credential of its own (class `auth`). */
export interface CredentialCharges {
  /**
   * To be called before the credential is looked at: counts the attempt against the address and the client id it
   * claims. It stays counted unless `succeed` follows. Throws `rate-limited`.
   */
  attempt(clientId: string | undefined): Promise<void>
  /** The credential was good: counts against client id and tenant, and no more against the address. Throws `rate-limited`. */
  succeed(clientId: string, tenantSlug: string): Promise<void>
}

export function credentialCharges(
  request: FastifyRequest,
  reply: FastifyReply,
  { limiter, limitsOf, limitFactor }: AccessChecksOptions,
): CredentialCharges {
  let refund = async () => {}
  return {
    async attempt(clientId) {
      const charges = strangerCharges('auth', request.callerAddress, clientId?.slice(0, 128) ?? '', limitFactor)
      const decision = await limiter.take(charges)
      if (!decision.allowed) {
        setRateLimitHeaders(reply, decision)
        throw rateLimited(decision)
      }
      refund = () => limiter.refund(charges, decision.takenAtMs)
    },
    async succeed(clientId, tenantSlug) {
      await refund()
      const quotas = quotasOf('auth', await limitsOf(tenantSlug), limitFactor)
      const decision = await limiter.take(callerCharges('auth', { token: clientId, tenantSlug }, quotas))
      setRateLimitHeaders(reply, decision)
      if (!decision.allowed) throw rateLimited(decision)
    },
  }
}

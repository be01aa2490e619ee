import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AccessChecksOptions } from './access-checks.ts'
import { callerCharges, quotasOf, rateLimited, setRateLimitHeaders, strangerCharges } from './rate-limit-headers.ts'
import type { Charge, RateDecision } from './rate-limiter.ts'

/**
 * The rate limit of an operation without a bearer token (class `auth`). Whoever has a credential has it looked at first
 * and is then counted by one of `succeed` and `failed`: so wrong attempts, however many and by whomever, never keep a
 * right one out. What they cost the guesser is the answer, and a secret of 256 bits is not found by guessing.
 */
export interface CredentialCharges {
  /**
   * For what anyone may call without a credential, such as asking for a link: counts the call against the address, at
   * the class's number for tenants, and with an id also against address and id together, at its number for tokens.
   * Throws `rate-limited`. If `succeed` follows, it is no longer counted.
   */
  attempt(id?: string): Promise<void>
  /**
   * The credential was wrong, or there was none where one is needed: counts as `attempt` does, without an id against
   * address and no id. Throws `rate-limited`, which is then the answer instead of the 401.
   */
  failed(id?: string): Promise<void>
  /** The credential was good: counts against client id (or session) and tenant. Throws `rate-limited`. */
  succeed(id: string, tenantSlug: string): Promise<void>
}

export function credentialCharges(
  request: FastifyRequest,
  reply: FastifyReply,
  { limiter, limitsOf, limitFactor }: AccessChecksOptions,
): CredentialCharges {
  let refund = async () => {}

  async function chargeStranger(charges: readonly Charge[]): Promise<void> {
    const decision = await limiter.take(charges)
    if (!decision.allowed) refuse(reply, decision)
    refund = () => limiter.refund(charges, decision.takenAtMs)
  }

  return {
    async attempt(id) {
      const all = everyone(request.callerAddress, limitFactor)
      await chargeStranger(id === undefined ? [all] : [...guesses(request.callerAddress, id, limitFactor), all])
    },
    async failed(id = '') {
      const { callerAddress } = request
      await chargeStranger([...guesses(callerAddress, id, limitFactor), everyone(callerAddress, limitFactor)])
    },
    async succeed(id, tenantSlug) {
      await refund()
      const quotas = quotasOf('auth', await limitsOf(tenantSlug), limitFactor)
      const decision = await limiter.take(callerCharges('auth', { token: id, tenantSlug }, quotas))
      setRateLimitHeaders(reply, decision)
      if (!decision.allowed) throw rateLimited(decision)
    },
  }
}

/** What an address tries with one id. The id is anybody's text, or somebody's e-mail address: its hash is kept. */
function guesses(address: string, id: string, factor: number): Charge[] {
  return strangerCharges('auth', address, id === '' ? '' : hash('sha256', id, 'base64url').slice(0, 22), factor)
}

/** What an address tries with all ids together. */
function everyone(address: string, factor: number): Charge {
  const [charge] = strangerCharges('auth', address, 'all', factor)
  return { ...(charge as Charge), quota: quotasOf('auth', {}, factor).perTenant }
}

/** The header names a policy once: the one that is used up. */
function refuse(reply: FastifyReply, decision: RateDecision): never {
  const usedUp = { ...decision, policies: decision.policies.filter((each) => each.remaining === 0).slice(0, 1) }
  setRateLimitHeaders(reply, usedUp)
  throw rateLimited(usedUp)
}

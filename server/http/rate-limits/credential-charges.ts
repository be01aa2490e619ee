import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { DomainError } from '../../../contract/domain-error.ts'
import type { RateClass } from '../../../contract/limits.ts'
import type { AuthMiddlewareOptions } from '../auth-middleware.ts'
import { asDomainError } from '../problem-document.ts'
import {
  anonymousCharges,
  authenticatedCharges,
  countRequest,
  quotasOf,
  rateLimited,
  setRateLimitHeaders,
} from './rate-limit-headers.ts'
import type { Charge, RateDecision } from './rate-limiter.ts'

/**
 * The rate limit of an operation without a bearer token (of its class, which mostly is `auth`). Whoever has a credential has it looked at first
 * and is then counted by one of `succeed`, `count` and `failed`: so wrong attempts, however many and by whomever, never
 * keep a right one out. What they cost the guesser is the answer, and a secret of 256 bits is not found by guessing.
 *
 * A handler that throws before it has counted anything need not care: see `refused`.
 */
export interface CredentialCharges {
  /**
   * For what anyone may call without a credential, such as asking for a link: counts the call against the address, at
   * the class's number for tenants, and with an id also against address and id together, at its number for tokens.
   * Throws `rate-limited`. If `succeed` follows, it is no longer counted.
   */
  attempt(id?: string): Promise<void>
  /**
   * The credential was wrong, or there was none where one is needed: counts as `attempt` does, but apart from it, and
   * without an id against address and no id. Throws `rate-limited`, which is then the answer instead of the 401.
   */
  failed(id?: string): Promise<void>
  /**
   * The credential was good: counts against client id (or session) and tenant, where it is one's. Throws `rate-limited`.
   */
  succeed(id: string, tenantSlug?: string): Promise<void>
  /** As `succeed`, for what is done at any rate, such as signing out: refuses nothing. */
  count(id: string, tenantSlug: string): Promise<void>
  /**
   * The request ends in this problem: where nothing was counted for it yet, a 401 counts as `failed`, and anything else
   * against the address alone, at the class's number for tenants.
   *
   * @returns what to answer with, which is the problem, or `rate-limited`
   */
  refused(problem: DomainError): Promise<DomainError>
}

export function credentialCharges(
  request: FastifyRequest,
  reply: FastifyReply,
  { limiter, limitsOf, limitFactor }: AuthMiddlewareOptions,
  rateClass: RateClass = 'auth',
): CredentialCharges {
  let isCounted = false
  let refund = async () => {}

  async function chargeStranger(kind: StrangerKind, id: string | undefined): Promise<void> {
    isCounted = true
    const { callerAddress } = request
    const all = everyone(rateClass, kind, callerAddress, limitFactor)
    const charges = id === undefined ? [all] : [...guesses(rateClass, kind, callerAddress, id, limitFactor), all]
    const decision = await limiter.take(charges)
    // The header names a policy once: the counter that has least left.
    const policies = decision.policies.toSorted((a, b) => a.remaining - b.remaining).slice(0, 1)
    setRateLimitHeaders(reply, { ...decision, policies })
    if (!decision.allowed) throw rateLimited({ ...decision, policies })
    refund = () => limiter.refund(charges, decision.takenAtMs)
  }

  async function chargeCaller(id: string, tenantSlug: string | undefined): Promise<RateDecision> {
    isCounted = true
    await refund()
    const own = tenantSlug === undefined ? {} : await limitsOf(tenantSlug)
    const quotas = quotasOf(rateClass, own, limitFactor)
    const ofBoth = authenticatedCharges(rateClass, { token: id, tenantSlug: tenantSlug ?? '' }, quotas)
    const taken = tenantSlug === undefined ? ofBoth.slice(0, 1) : ofBoth
    request.chargeAgain = () => countRequest(limiter, taken, reply)
    const decision = await limiter.take(taken)
    setRateLimitHeaders(reply, decision)
    return decision
  }

  const charges: CredentialCharges = {
    attempt: (id) => chargeStranger('attempts', id),
    failed: (id = '') => chargeStranger('failures', id),
    async succeed(id, tenantSlug) {
      const decision = await chargeCaller(id, tenantSlug)
      if (!decision.allowed) throw rateLimited(decision)
    },
    async count(id, tenantSlug) {
      await chargeCaller(id, tenantSlug)
    },
    async refused(problem) {
      if (isCounted || problem.status >= 500 || problem.slug === 'rate-limited') return problem
      try {
        // Who sends what cannot be read guesses nothing: it counts against the address alone.
        await (problem.status === 401 ? charges.failed() : chargeStranger('failures', undefined))
        return problem
      } catch (error) {
        return asDomainError(error)
      }
    },
  }
  return charges
}

/** Counted apart, so that somebody's wrong secrets keep no neighbour from beginning to sign in. */
type StrangerKind = 'attempts' | 'failures'

/** What an address tries with one id. The id is anybody's text, or somebody's e-mail address: its hash is kept. */
function guesses(rateClass: RateClass, kind: StrangerKind, address: string, id: string, factor: number): Charge[] {
  const hashed = id === '' ? '' : hash('sha256', id, 'base64url').slice(0, 22)
  return anonymousCharges(rateClass, address, `${kind} ${hashed}`, factor)
}

/** What an address tries with all ids together. */
function everyone(rateClass: RateClass, kind: StrangerKind, address: string, factor: number): Charge {
  const [charge] = anonymousCharges(rateClass, address, `${kind} all`, factor)
  return { ...(charge as Charge), quota: quotasOf(rateClass, {}, factor).perTenant }
}

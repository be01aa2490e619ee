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
 * Counts operations without a bearer token against the rate limit of their class, usually `auth`. A credential is
 * checked first, and the request then counted by one of `succeed`, `count` and `failed`. So wrong attempts by anybody
 * never block a valid credential. They cost the guesser the response, and nobody guesses a secret of 256 bits.
 * A handler that throws before counting is counted by `refused`.
 */
export interface CredentialCharges {
  /**
   * Counts a call that needs no credential, such as requesting a link: against the address, at the class's number for
   * tenants, and with an id also against address and id together, at its number for tokens. Throws `rate-limited`. A
   * later `succeed` removes the count.
   */
  attempt(id?: string): Promise<void>
  /**
   * Counts a wrong or missing credential like `attempt`, but in separate counters; a missing id counts as an empty one.
   * Throws `rate-limited`, which then replaces the 401.
   */
  failed(id?: string): Promise<void>
  /** Counts a valid credential against client id (or session) and its tenant, if any. Throws `rate-limited`. */
  succeed(id: string, tenantSlug?: string): Promise<void>
  /** Counts like `succeed` but refuses nothing, for operations that always run, such as signing out. */
  count(id: string, tenantSlug: string): Promise<void>
  /**
   * Counts a request that ends in this problem, unless it was counted before: a 401 as `failed`, anything else against
   * the address alone, at the class's number for tenants.
   *
   * @returns the problem for the response, or `rate-limited`
   */
  refused(problem: DomainError): Promise<DomainError>
}

export function credentialCharges(
  request: FastifyRequest,
  reply: FastifyReply,
  { limiter, limitsOf, limitFactor }: AuthMiddlewareOptions,
  rateClass: RateClass = 'auth',
  strangerClass: RateClass = rateClass,
): CredentialCharges {
  let isCounted = false
  let refund = async () => {}

  async function chargeStranger(kind: StrangerKind, id: string | undefined): Promise<void> {
    isCounted = true
    const { callerAddress } = request
    const all = everyone(strangerClass, kind, callerAddress, limitFactor)
    const charges = id === undefined ? [all] : [...guesses(strangerClass, kind, callerAddress, id, limitFactor), all]
    const decision = await limiter.take(charges)
    // The header names a policy once: that of the counter with the least left.
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
        // An unreadable request is no guess, so it counts against the address alone.
        await (problem.status === 401 ? charges.failed() : chargeStranger('failures', undefined))
        return problem
      } catch (error) {
        return asDomainError(error)
      }
    },
  }
  return charges
}

/**
 * Attempts and failures are counted apart, so that wrong secrets of one person do not block neighbours from signing in.
 */
type StrangerKind = 'attempts' | 'failures'

/**
 * Returns the charges of an address with one id. The id may be any text, or an e-mail address, so only its hash is
 * stored.
 */
function guesses(rateClass: RateClass, kind: StrangerKind, address: string, id: string, factor: number): Charge[] {
  const hashed = id === '' ? '' : hash('sha256', id, 'base64url').slice(0, 22)
  return anonymousCharges(rateClass, address, `${kind} ${hashed}`, factor)
}

/** Returns the charge of an address for all ids together. */
function everyone(rateClass: RateClass, kind: StrangerKind, address: string, factor: number): Charge {
  const [charge] = anonymousCharges(rateClass, address, `${kind} all`, factor)
  return { ...(charge as Charge), quota: quotasOf(rateClass, {}, factor).perTenant }
}

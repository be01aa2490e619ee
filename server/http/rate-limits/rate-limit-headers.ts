import type { FastifyReply } from 'fastify'
import { DomainError } from '../../../contract/domain-error.ts'
import { type RateClass, rateLimits } from '../../../contract/limits.ts'
import type { Charge, RateDecision, RateLimiter } from './rate-limiter.ts'
import { windowSeconds } from './sliding-window.ts'

/** Requests per minute that a tenant has instead of the defaults, for the classes that were set. */
export type TenantLimits = Partial<Record<RateClass, { perToken: number; perTenant: number }>>

/** Returns the quotas of a class: the tenant's own or the defaults, times `factor`; a limit above 0 remains above 0. */
export function quotasOf(rateClass: RateClass, own: TenantLimits, factor: number) {
  const { perToken, perTenant } = own[rateClass] ?? rateLimits[rateClass]
  const scale = (limit: number) => Math.ceil(limit * factor)
  return { perToken: scale(perToken), perTenant: scale(perTenant) }
}

/** Returns the charges of a request with a valid credential. `token` is the jti; in class `auth` the client id. */
export function authenticatedCharges(
  rateClass: RateClass,
  caller: { token: string; tenantSlug: string },
  quotas: { perToken: number; perTenant: number },
): Charge[] {
  return [
    { policy: 'token', key: `${rateClass} token ${caller.token}`, quota: quotas.perToken },
    { policy: 'tenant', key: `${rateClass} tenant ${caller.tenantSlug}`, quota: quotas.perTenant },
  ]
}

/**
 * Returns the charges of a request without a valid credential: never the tenant, so that no stranger locks it out.
 *
 * @param what distinguishes counters of one address
 */
export function anonymousCharges(rateClass: RateClass, address: string, what: string, factor: number): Charge[] {
  const { perToken } = quotasOf(rateClass, {}, factor)
  return [{ policy: 'address', key: `${rateClass} address ${networkOf(address)} ${what}`, quota: perToken }]
}

/** Returns the counted network: an IPv6 host commonly chooses addresses from a /64, so that counts as one. */
export function networkOf(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address
  const [head = '', tail] = address.split('::')
  const groups = head.split(':')
  const missing = tail === undefined ? 0 : 8 - groups.length - tail.split(':').length
  const all =
    tail === undefined ? groups : [...groups, ...Array<string>(Math.max(0, missing)).fill('0'), ...tail.split(':')]
  return all.slice(0, 4).join(':')
}

/** Sets `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-10). */
export function setRateLimitHeaders(reply: FastifyReply, decision: RateDecision): void {
  let policy = ''
  let state = ''
  for (const each of decision.policies) {
    const separator = policy === '' ? '' : ', '
    policy += `${separator}"${each.policy}";q=${each.quota};w=${windowSeconds}`
    state += `${separator}"${each.policy}";r=${each.remaining};t=${each.resetSeconds}`
  }
  reply.header('ratelimit-policy', policy)
  reply.header('ratelimit', state)
}

/** Counts a request, and sets the rate limit headers of its response. Throws `rate-limited`. */
export async function countRequest(
  limiter: RateLimiter,
  charges: readonly Charge[],
  reply: FastifyReply,
): Promise<void> {
  const decision = await limiter.take(charges)
  setRateLimitHeaders(reply, decision)
  if (!decision.allowed) throw rateLimited(decision)
}

/** Returns the 429 for a refusing decision. */
export function rateLimited(decision: RateDecision): DomainError {
  const usedUp = decision.policies.filter((each) => each.remaining === 0)
  const quotas = usedUp.map((each) => `${each.quota} requests per ${each.policy}`).join(' and ')
  return new DomainError(
    'rate-limited',
    `The rate limit is reached: ${quotas} within ${windowSeconds} s. Wait ${decision.retryAfterSeconds} s.`,
    { retryAfterSeconds: decision.retryAfterSeconds },
  )
}

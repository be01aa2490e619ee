import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError, invalidTenant, validationFailed } from '../../contract/domain-error.ts'
import type { RateClass } from '../../contract/limits.ts'
import type { Access } from '../../contract/operations.ts'
import { admits } from '../../contract/permissions.ts'
import type { Scope } from '../../contract/scopes.ts'
import {
  type AccessControl,
  type AccessDenial,
  type Caller,
  isServedAt,
  type Tenant,
  type TokenClaims,
} from './caller.ts'
import {
  anonymousCharges,
  authenticatedCharges,
  countRequest,
  quotasOf,
  rateLimited,
  setRateLimitHeaders,
  type TenantLimits,
} from './rate-limits/rate-limit-headers.ts'
import type { RateLimiter } from './rate-limits/rate-limiter.ts'
import { countHeader } from './request-headers.ts'

export const tenantHeader = 'x-service-tenant'
/** Maximum length of a slug that a caller invented. */
export const notedSlugLengthMax = 63

export interface AuthMiddlewareOptions {
  access: AccessControl
  limiter: RateLimiter
  /** Returns the limits that the tenant has instead of the defaults. */
  limitsOf(tenantSlug: string): Promise<TenantLimits>
  limitFactor: number
}

/**
 * Authenticates and authorizes a request of a `token` operation, before its body is read. Throws in this order:
 * credential 401, tenant header 400, tenant 403, scope 403, rate limit 429.
 */
export async function authenticateCaller(
  request: FastifyRequest,
  reply: FastifyReply,
  operation: {
    access: Access & { kind: 'token' }
    rateClass: RateClass | null
    /** The token names the tenant if the header is absent. */
    isProtectedResource?: true | undefined
  },
  options: AuthMiddlewareOptions,
): Promise<Caller> {
  const claims = await authenticate(request, reply, operation.rateClass, options)
  const ofToken = operation.isProtectedResource ? claims.tenantSlug : undefined
  const tenant = await tenantOf(request, claims, options.access, ofToken)
  request.hubTenant = tenant
  if (!admits(operation.access, claims.scopes)) {
    const required_scopes = [...new Set(operation.access.anyOf.flat())]
    noteRejection(request, claims, options.access, { reason: 'scope', asked: { required_scopes } })
    throw insufficientScope(operation.access.anyOf, required_scopes)
  }
  const caller: Caller = {
    subject: claims.subject,
    clientId: claims.clientId,
    tokenId: claims.tokenId,
    tenant,
    scopes: claims.scopes,
    ...(claims.sessionId !== undefined && { sessionId: claims.sessionId }),
    ...(claims.clientName !== undefined && { clientName: claims.clientName }),
    address: request.callerAddress,
    requestId: request.id,
  }
  if (operation.rateClass) {
    const own = await options.limitsOf(tenant.slug)
    const quotas = quotasOf(operation.rateClass, own, options.limitFactor)
    const charges = authenticatedCharges(
      operation.rateClass,
      { token: caller.tokenId, tenantSlug: tenant.slug },
      quotas,
    )
    request.chargeAgain = () => countRequest(options.limiter, charges, reply)
    await request.chargeAgain()
  }
  return caller
}

async function authenticate(
  request: FastifyRequest,
  reply: FastifyReply,
  rateClass: RateClass | null,
  { access, limiter, limitFactor }: AuthMiddlewareOptions,
): Promise<TokenClaims> {
  try {
    return await access.authenticate(bearerToken(request), request.callerAddress)
  } catch (error) {
    if (!(error instanceof DomainError) || error.slug !== 'authentication-failed' || !rateClass) throw error
    const decision = await limiter.take(anonymousCharges(rateClass, request.callerAddress, '', limitFactor))
    setRateLimitHeaders(reply, decision)
    if (!decision.allowed) throw rateLimited(decision)
    throw error
  }
}

/** Returns the token of `Authorization: Bearer` (RFC 6750, section 2.1). */
export function bearerToken(request: FastifyRequest): string {
  const header = request.headers.authorization
  if (header === undefined) throw unauthenticated('The request has no Authorization header.')
  // Node keeps the first of several headers; a proxy before it may have checked another.
  if (countHeader(request, 'authorization') > 1) throw unauthenticated('The Authorization header is repeated.')
  const token = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(header)?.[1]
  if (token === undefined) throw unauthenticated('The Authorization header is not `Bearer <access token>`.')
  return token
}

function unauthenticated(detail: string): DomainError {
  return new DomainError('authentication-failed', detail)
}

/**
 * Returns the tenant of the request. The error is the same for an unknown, malformed or foreign tenant and for the
 * wrong host, so that nobody learns which tenants exist.
 */
async function tenantOf(
  request: FastifyRequest,
  claims: TokenClaims,
  access: AccessControl,
  byDefault: string | undefined,
): Promise<Tenant> {
  const slug = tenantHeaderOf(request) ?? byDefault
  if (slug === undefined) {
    throw validationFailed([
      {
        pointer: `/headers/${tenantHeader}`,
        detail: 'is required: the tenant of the token',
      },
    ])
  }
  const tenant = slug === claims.tenantSlug ? await access.findTenant(slug) : undefined
  if (tenant !== undefined && isServedAt(request.hostTenant?.slug, tenant)) return tenant
  const asked = { tenant_slug: slug.slice(0, notedSlugLengthMax) }
  noteRejection(request, claims, access, { reason: 'wrong_tenant', asked })
  throw invalidTenant(slug)
}

function noteRejection(
  request: FastifyRequest,
  claims: TokenClaims,
  access: AccessControl,
  { reason, asked }: { reason: AccessDenial['reason']; asked: AccessDenial['details'] },
): void {
  const { route, protocol } = request.routeOptions.config
  const operationId = route?.operationId ?? protocol?.name ?? ''
  const details = { operation_id: operationId, ...asked }
  access.refused?.({ claims, reason, details, address: request.callerAddress, requestId: request.id })
}

/**
 * Returns the tenant that a request names in its body or in `X-Service-Tenant`. Throws `invalid-tenant` if the two
 * differ.
 */
export function tenantNamedBy(request: FastifyRequest, inBody: string | undefined): string | undefined {
  const inHeader = tenantHeaderOf(request)
  if (inHeader !== undefined && inBody !== undefined && inHeader !== inBody) throw invalidTenant(inHeader)
  return inBody ?? inHeader
}

/** Returns the slug of `X-Service-Tenant`, or undefined without one. Throws `validation-failed` if it is repeated. */
export function tenantHeaderOf(request: FastifyRequest): string | undefined {
  if (countHeader(request, tenantHeader) > 1) {
    throw validationFailed([{ pointer: `/headers/${tenantHeader}`, detail: 'must be given exactly once' }])
  }
  const value = request.headers[tenantHeader]
  return typeof value === 'string' && value !== '' ? value : undefined
}

function insufficientScope(anyOf: readonly (readonly Scope[])[], required: Scope[]): DomainError {
  const words = anyOf.map((alternative) => alternative.join(' and ')).join(', or ')
  return new DomainError(
    'insufficient-scope',
    `This operation requires the scope ${words}, which the token does not have.`,
    {
      extensions: { required_scopes: required },
    },
  )
}

import type { BodyKind, RateClass } from '../limits.ts'
import { type Scope, scopeNames } from '../scopes.ts'

/**
 * Lists the callers that an operation accepts.
 * - `public`: anyone, without a credential;
 * - `own`: the operation checks a credential of its own (client secret, link);
 * - `token`: a bearer token of the tenant that holds every scope of at least one alternative. An empty
 *   alternative means that any valid token of the tenant will do.
 */
export type Access = { kind: 'public' } | { kind: 'own' } | { kind: 'token'; anyOf: readonly (readonly Scope[])[] }

export type Operation = OperationWithoutBody | OperationWithBody

interface OperationWithoutBody extends OperationBasics {
  method: 'GET' | 'DELETE'
  body?: never
}

interface OperationWithBody extends OperationBasics {
  method: 'POST' | 'PUT' | 'PATCH'
  /** Names the bounds of the body: see `bodyBounds` in `contract/limits.ts`. */
  body: BodyKind
}

interface OperationBasics {
  /** OpenAPI path template. */
  path: string
  access: Access
  rateClass: RateClass | null
  /**
   * Refuses requests that a page of another site sent (403 `cross-site-request`): those that act with cookies, and
   * those of agents.
   */
  sameSiteOnly?: true
  /**
   * It is a protected resource of OAuth (RFC 9728), for standard clients: a 401 names its metadata, and the tenant is
   * that of the token if `X-Service-Tenant` is absent.
   */
  isProtectedResource?: true
  tag: string
  summary: string
}

export const anyone: Access = { kind: 'public' }
export const ownCredential: Access = { kind: 'own' }
export const scope = (...anyOf: Scope[]): Access => ({ kind: 'token', anyOf: anyOf.map((one) => [one]) })
export const allScopes = (...all: Scope[]): Access => ({ kind: 'token', anyOf: [all] })

/** The role admin holds every scope, and no other role does; a service account that was given all of them is its equal. */
export const administrator: Access = { kind: 'token', anyOf: [scopeNames] }
/** Any valid token of the tenant. */
export const anyToken: Access = { kind: 'token', anyOf: [[]] }
export const tenantSettings = allScopes('connector:admin', 'roster:write')

// A reader of only some record types gets only those: the Hub module narrows by type.
export const anyReader = scope('hub:read', 'telemetry:read', 'governance:read')

import { hash } from 'node:crypto'
import { DomainError, type PointedError, validationFailed } from '../../../../contract/domain-error.ts'
import { isScope, type Scope, scopeNames } from '../../../../contract/scopes.ts'
import type { OAuthErrorCode } from '../auth-types.ts'
import { readScopes } from '../tokens/token-request.ts'
import type { ClientRegistrations, RegisteredClient } from './client-registrations.ts'
import { isRegistered, withParameters } from './redirect-uris.ts'

export type AuthorizationParameters = Readonly<Record<string, string | undefined>>

/** An authorization request that may be shown to a person. */
export interface AuthorizationRequest {
  client: RegisteredClient
  redirectUri: string
  state: string | undefined
  /** The requested scopes that exist. */
  scopes: readonly Scope[]
  resource: string
  codeChallenge: string
  issuer: string
  /** The parameters as given, for the form of the consent page. */
  parameters: AuthorizationParameters
}

/** A fault to report to the client at its redirect URI (RFC 6749, section 4.1.2.1). */
export class RejectedAuthorization extends DomainError {
  readonly redirectUri: string
  /** The address of the response to the client. */
  readonly location: string

  constructor(fault: PointedError, redirectUri: string, location: string) {
    super('validation-failed', `${fault.pointer} ${fault.detail}`, { errors: [fault] })
    this.redirectUri = redirectUri
    this.location = location
  }
}

const challengeForm = /^[A-Za-z0-9_-]{43}$/

export const parameterNames = [
  'response_type',
  'client_id',
  'redirect_uri',
  'state',
  'scope',
  'resource',
  'code_challenge',
  'code_challenge_method',
] as const

/**
 * Checks an authorization request. Client and redirect URI come first: without them nothing is sent anywhere.
 *
 * @param place pointer to the parameters
 * @param issuer of the called host
 * @throws DomainError `validation-failed` for a page; RejectedAuthorization for a fault that the client may learn
 */
export function readAuthorization(
  parameters: AuthorizationParameters,
  {
    registrations,
    place,
    issuer,
    hostTenant,
  }: { registrations: ClientRegistrations; place: '/query' | ''; issuer: string; hostTenant: string | undefined },
): AuthorizationRequest {
  const { client_id: clientId = '', redirect_uri: redirectUri = '', state } = parameters
  const client = registrations.open(clientId, hostTenant)
  if (!client) {
    const detail = 'must be the id of a client that is registered at this address of the Hub. Connect it again.'
    throw validationFailed([{ pointer: `${place}/client_id`, detail }])
  }
  if (!isRegistered(redirectUri, client.redirectUris)) {
    throw validationFailed([
      { pointer: `${place}/redirect_uri`, detail: 'must be a redirect URI that the client registered' },
    ])
  }
  const refuse = (error: OAuthErrorCode | 'unsupported_response_type', parameter: string, detail: string) => {
    const response = { error, error_description: `${parameter} ${detail}` }
    const location = responseTo({ redirectUri, state, issuer }, response)
    return new RejectedAuthorization({ pointer: `${place}/${parameter}`, detail }, redirectUri, location)
  }
  if (parameters.response_type !== 'code') throw refuse('unsupported_response_type', 'response_type', 'must be code')
  if (parameters.code_challenge_method !== 'S256') {
    throw refuse('invalid_request', 'code_challenge_method', 'must be S256')
  }
  const codeChallenge = parameters.code_challenge ?? ''
  if (!challengeForm.test(codeChallenge)) {
    throw refuse('invalid_request', 'code_challenge', 'must be the base64url of a SHA-256 digest, 43 characters')
  }
  const resource = resourceOf(parameters.resource, issuer)
  if (resource === undefined) throw refuse('invalid_target', 'resource', `must be ${issuer}/mcp or ${issuer}`)
  const wanted = readScopes(parameters.scope)
  const scopes = wanted === undefined ? scopeNames : wanted.filter(isScope)
  if (scopes.length === 0) throw refuse('invalid_scope', 'scope', 'must have at least one scope of the Hub')
  return { client, redirectUri, state, scopes, resource, codeChallenge, issuer, parameters }
}

/** Returns the resource that a parameter names, without a slash at its end; undefined for one of somebody else. */
export function resourceOf(text: string | undefined, issuer: string): string | undefined {
  if (text === undefined) return `${issuer}/mcp`
  const resource = text.replace(/\/$/, '')
  return resource === issuer || resource === `${issuer}/mcp` ? resource : undefined
}

/** Returns the address of a response, with the issuer against mix-up attacks (RFC 9207). */
export function responseTo(
  { redirectUri, state, issuer }: Pick<AuthorizationRequest, 'redirectUri' | 'state' | 'issuer'>,
  parameters: Readonly<Record<string, string>>,
): string {
  return withParameters(redirectUri, { ...parameters, ...(state !== undefined && { state }), iss: issuer })
}

/** Returns whether the verifier is the one of an S256 challenge (RFC 7636, section 4.6). */
export function isVerifierOf(verifier: string, codeChallenge: string): boolean {
  return /^[A-Za-z0-9\-._~]{43,128}$/.test(verifier) && hash('sha256', verifier, 'base64url') === codeChallenge
}

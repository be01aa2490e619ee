import type { RateClass } from './limits.ts'
import { type Scope, scopeNames } from './scopes.ts'

/**
 * Who may call an operation.
 * - `public`: anyone, without a credential;
 * - `own`: the operation checks a credential of its own (client secret, link);
 * - `token`: a bearer token of the tenant that holds every scope of at least one alternative. An empty
 *   alternative means that any valid token of the tenant will do.
 */
export type Access = { kind: 'public' } | { kind: 'own' } | { kind: 'token'; anyOf: readonly (readonly Scope[])[] }

export interface Operation {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** OpenAPI path template. */
  path: string
  access: Access
  rateClass: RateClass | null
  /** It acts with cookies, so a request that a page of another site sent is refused (403 `cross-site-request`). */
  sameSiteOnly?: true
  tag: string
  summary: string
}

const anyone: Access = { kind: 'public' }
const ownCredential: Access = { kind: 'own' }
const scope = (...anyOf: Scope[]): Access => ({ kind: 'token', anyOf: anyOf.map((one) => [one]) })
const allScopes = (...all: Scope[]): Access => ({ kind: 'token', anyOf: [all] })

/** The role admin holds every scope, and no other role does; a service account that was given all of them is its equal. */
const administrator: Access = { kind: 'token', anyOf: [scopeNames] }
const tenantSettings = allScopes('connector:admin', 'roster:write')

// A reader of only some record types gets only those: the Hub module narrows by type.
const anyReader = scope('hub:read', 'telemetry:read', 'governance:read')

/** Every operation of the HTTP API, once: route, access, limit class and name. The name is the operationId. */
export const operations = {
  getHealth: {
    method: 'GET',
    path: '/v1/health',
    access: anyone,
    rateClass: null,
    tag: 'Service',
    summary: 'Health of the service',
  },
  getOpenApi: {
    method: 'GET',
    path: '/v1/openapi.json',
    access: anyone,
    rateClass: null,
    tag: 'Service',
    summary: 'This description of the API',
  },
  getTokenKeys: {
    method: 'GET',
    path: '/.well-known/jwks.json',
    access: anyone,
    rateClass: null,
    tag: 'Keys',
    summary: 'Public keys of access tokens',
  },
  getProvenanceKeys: {
    method: 'GET',
    path: '/.well-known/provenance-keys.json',
    access: anyone,
    rateClass: null,
    tag: 'Keys',
    summary: 'Public keys of cosignatures',
  },
  getOAuthMetadata: {
    method: 'GET',
    path: '/.well-known/oauth-authorization-server',
    access: anyone,
    rateClass: null,
    tag: 'Authentication',
    summary: 'Authorization server metadata (RFC 8414)',
  },
  issueServiceToken: {
    method: 'POST',
    path: '/api/v1/oauth/token',
    access: ownCredential,
    rateClass: 'auth',
    tag: 'Authentication',
    summary: 'Get an access token for a service account',
  },
  startLogin: {
    method: 'GET',
    path: '/api/v1/auth/login',
    access: ownCredential,
    rateClass: 'auth',
    tag: 'Authentication',
    summary: 'Sign in at the identity provider of the tenant',
  },
  completeLogin: {
    method: 'GET',
    path: '/api/v1/auth/callback',
    access: ownCredential,
    rateClass: 'auth',
    tag: 'Authentication',
    summary: 'Come back from the identity provider',
  },
  issueUserToken: {
    method: 'POST',
    path: '/api/v1/auth/token',
    access: ownCredential,
    rateClass: 'auth',
    sameSiteOnly: true,
    tag: 'Authentication',
    summary: 'Get or refresh the access token of a session',
  },
  logOut: {
    method: 'POST',
    path: '/api/v1/auth/logout',
    access: ownCredential,
    rateClass: 'auth',
    sameSiteOnly: true,
    tag: 'Authentication',
    summary: 'End the session, or all sessions of the user',
  },
  getMe: {
    method: 'GET',
    path: '/api/v1/auth/me',
    access: ownCredential,
    rateClass: 'auth',
    tag: 'Authentication',
    summary: 'Who is signed in, with which role and scopes',
  },
  listSessions: {
    method: 'GET',
    path: '/api/v1/auth/sessions',
    access: ownCredential,
    rateClass: 'auth',
    tag: 'Authentication',
    summary: 'List the own sessions',
  },
  endSession: {
    method: 'DELETE',
    path: '/api/v1/auth/sessions/{session_id}',
    access: ownCredential,
    rateClass: 'auth',
    sameSiteOnly: true,
    tag: 'Authentication',
    summary: 'End one of the own sessions',
  },
  requestMagicLink: {
    method: 'POST',
    path: '/api/v1/auth/magic-link',
    access: ownCredential,
    rateClass: 'auth',
    sameSiteOnly: true,
    tag: 'Authentication',
    summary: 'Have a sign-in link sent by e-mail',
  },
  mockLogIn: {
    method: 'POST',
    path: '/api/v1/auth/mock-login',
    access: ownCredential,
    rateClass: 'auth',
    sameSiteOnly: true,
    tag: 'Authentication',
    summary: 'Sign in as anyone (development and staging only)',
  },
  listServiceAccounts: {
    method: 'GET',
    path: '/api/v1/service-accounts',
    access: administrator,
    rateClass: 'roster',
    tag: 'Service accounts',
    summary: 'List the service accounts',
  },
  createServiceAccount: {
    method: 'POST',
    path: '/api/v1/service-accounts',
    access: administrator,
    rateClass: 'roster',
    tag: 'Service accounts',
    summary: 'Create a service account',
  },
  getServiceAccount: {
    method: 'GET',
    path: '/api/v1/service-accounts/{client_id}',
    access: administrator,
    rateClass: 'roster',
    tag: 'Service accounts',
    summary: 'Get a service account',
  },
  updateServiceAccount: {
    method: 'PATCH',
    path: '/api/v1/service-accounts/{client_id}',
    access: administrator,
    rateClass: 'roster',
    tag: 'Service accounts',
    summary: 'Change a service account',
  },
  disableServiceAccount: {
    method: 'DELETE',
    path: '/api/v1/service-accounts/{client_id}',
    access: administrator,
    rateClass: 'roster',
    tag: 'Service accounts',
    summary: 'Disable a service account for good',
  },
  rotateServiceAccountSecret: {
    method: 'POST',
    path: '/api/v1/service-accounts/{client_id}:rotate-secret',
    access: administrator,
    rateClass: 'roster',
    tag: 'Service accounts',
    summary: 'Give a service account a new secret',
  },
  configureSso: {
    method: 'POST',
    path: '/api/v1/identity/sso/configure',
    access: tenantSettings,
    rateClass: 'roster',
    tag: 'Onboarding',
    summary: 'Configure single sign-on',
  },
  getSso: {
    method: 'GET',
    path: '/api/v1/identity/sso/configure',
    access: tenantSettings,
    rateClass: 'roster',
    tag: 'Onboarding',
    summary: 'Get how single sign-on is configured',
  },

  queryRecords: {
    method: 'GET',
    path: '/api/v1/hub/records',
    access: anyReader,
    rateClass: 'hub-read',
    tag: 'Hub',
    summary: 'Query records',
  },
  writeRecord: {
    method: 'POST',
    path: '/api/v1/hub/records',
    access: scope('hub:write'),
    rateClass: 'hub-write',
    tag: 'Hub',
    summary: 'Write a record',
  },
  getRecord: {
    method: 'GET',
    path: '/api/v1/hub/records/{record_id}',
    access: anyReader,
    rateClass: 'hub-read',
    tag: 'Hub',
    summary: 'Get a record',
  },
  purgeRecord: {
    method: 'DELETE',
    path: '/api/v1/hub/records/{record_id}',
    access: scope('hub:purge'),
    rateClass: 'hub-write',
    tag: 'Hub',
    summary: 'Soft-delete a record',
  },
  restoreRecord: {
    method: 'POST',
    path: '/api/v1/hub/records/{record_id}:restore',
    access: scope('hub:purge'),
    rateClass: 'hub-write',
    tag: 'Hub',
    summary: 'Restore a purged record',
  },
  getRelatedRecords: {
    method: 'GET',
    path: '/api/v1/hub/records/{record_id}/related',
    access: anyReader,
    rateClass: 'hub-read',
    tag: 'Hub',
    summary: 'Walk the relationship graph',
  },
  verifyRecord: {
    method: 'POST',
    path: '/api/v1/hub/records/{record_id}/verify',
    access: anyReader,
    rateClass: 'hub-read',
    tag: 'Hub',
    summary: 'Verify the provenance of a record',
  },
  releaseRecord: {
    method: 'POST',
    path: '/api/v1/hub/records/{record_id}/legal-hold-releases',
    access: scope('hub:purge'),
    rateClass: 'hub-write',
    tag: 'Governance',
    summary: 'Release a governance event for purging',
  },
  provisionHub: {
    method: 'POST',
    path: '/api/v1/hub/provision',
    access: allScopes('connector:admin', 'hub:write'),
    rateClass: 'roster',
    tag: 'Onboarding',
    summary: 'Provision the Hub',
  },
  getProvision: {
    method: 'GET',
    path: '/api/v1/hub/provision',
    access: allScopes('connector:admin', 'hub:write'),
    rateClass: 'roster',
    tag: 'Onboarding',
    summary: 'Get how the Hub is provisioned',
  },

  ingestEvent: {
    method: 'POST',
    path: '/api/v1/telemetry/events',
    access: scope('telemetry:write'),
    rateClass: 'telemetry-ingest',
    tag: 'Telemetry',
    summary: 'Ingest one telemetry event',
  },
  ingestBatch: {
    method: 'POST',
    path: '/api/v1/telemetry/events:batch',
    access: scope('telemetry:write'),
    rateClass: 'telemetry-ingest',
    tag: 'Telemetry',
    summary: 'Ingest up to 1,000 telemetry events',
  },
  summarizeTelemetry: {
    method: 'GET',
    path: '/api/v1/telemetry/summary',
    access: scope('telemetry:read'),
    rateClass: 'hub-read',
    tag: 'Telemetry',
    summary: 'Usage, latency and costs by time and group',
  },
  reconcileTelemetry: {
    method: 'GET',
    path: '/api/v1/telemetry/reconciliation',
    access: scope('telemetry:read'),
    rateClass: 'hub-read',
    tag: 'Telemetry',
    summary: 'Reported and computed costs side by side',
  },
  listCostExceptions: {
    method: 'GET',
    path: '/api/v1/telemetry/reconciliation/exceptions',
    access: scope('telemetry:read'),
    rateClass: 'hub-read',
    tag: 'Telemetry',
    summary: 'Events without a price, or whose two costs differ',
  },
  getPrices: {
    method: 'GET',
    path: '/api/v1/telemetry/prices',
    access: scope('telemetry:read'),
    rateClass: 'hub-read',
    tag: 'Telemetry',
    summary: "Get the tenant's own prices and the catalogue's version",
  },
  replacePrices: {
    method: 'PUT',
    path: '/api/v1/telemetry/prices',
    access: administrator,
    rateClass: 'hub-read',
    tag: 'Telemetry',
    summary: "Replace the tenant's own prices",
  },
  rateTelemetryAgain: {
    method: 'POST',
    path: '/api/v1/telemetry/prices:rerate',
    access: administrator,
    rateClass: 'hub-read',
    tag: 'Telemetry',
    summary: 'Rate stored events again at the prices of now',
  },

  listUsers: {
    method: 'GET',
    path: '/api/v1/roster/users',
    access: scope('roster:read'),
    rateClass: 'roster',
    tag: 'Roster',
    summary: 'List the users',
  },
  createUser: {
    method: 'POST',
    path: '/api/v1/roster/users',
    access: scope('roster:write'),
    rateClass: 'roster',
    tag: 'Roster',
    summary: 'Add a user',
  },
  getUser: {
    method: 'GET',
    path: '/api/v1/roster/users/{user_id}',
    access: scope('roster:read'),
    rateClass: 'roster',
    tag: 'Roster',
    summary: 'Get a user',
  },
  getUserRole: {
    method: 'GET',
    path: '/api/v1/roster/users/{user_id}/role',
    access: scope('roster:read'),
    rateClass: 'roster',
    tag: 'Roster',
    summary: 'Get the role of a user',
  },
  replaceUserRole: {
    method: 'PUT',
    path: '/api/v1/roster/users/{user_id}/role',
    access: scope('roster:write'),
    rateClass: 'roster',
    tag: 'Roster',
    summary: 'Give a user another role',
  },
  deactivateUser: {
    method: 'POST',
    path: '/api/v1/roster/users/{user_id}:deactivate',
    access: scope('roster:write'),
    rateClass: 'roster',
    tag: 'Roster',
    summary: 'Deactivate a user and end all sessions',
  },
  reactivateUser: {
    method: 'POST',
    path: '/api/v1/roster/users/{user_id}:reactivate',
    access: scope('roster:write'),
    rateClass: 'roster',
    tag: 'Roster',
    summary: 'Reactivate a user',
  },
  listArchetypes: {
    method: 'GET',
    path: '/api/v1/roster/archetypes',
    access: scope('roster:read'),
    rateClass: 'roster',
    tag: 'Roster',
    summary: 'List the archetypes',
  },
  replaceArchetypes: {
    method: 'PUT',
    path: '/api/v1/roster/archetypes',
    access: scope('roster:write'),
    rateClass: 'roster',
    tag: 'Roster',
    summary: 'Replace the archetype bundle',
  },
  listSkills: {
    method: 'GET',
    path: '/api/v1/skill-entitlement/skills',
    access: scope('skill_entitlement:read'),
    rateClass: 'skill-entitlement',
    tag: 'Skill entitlement',
    summary: 'List the registered skills',
  },
  transitionSkill: {
    method: 'POST',
    path: '/api/v1/skill-entitlement/skills/{skill_id}:transition',
    access: scope('skill_entitlement:write'),
    rateClass: 'skill-entitlement',
    tag: 'Skill entitlement',
    summary: 'Move a skill to another state',
  },
} as const satisfies Record<string, Operation>

export type OperationId = keyof typeof operations

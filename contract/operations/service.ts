import { anyone, type Operation, ownCredential } from './operation.ts'

/** Public operations, and the tokens of service accounts. */
export const serviceOperations = {
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
    body: 'signIn',
    tag: 'Authentication',
    summary: 'Get an access token',
  },
} as const satisfies Record<string, Operation>

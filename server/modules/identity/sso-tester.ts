import { type Database, readTenant } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import {
  addressStep,
  type ConnectionTestResult,
  runConnectionTest,
  type Step,
  TestStepError,
} from '../../outbound/connection-test.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import { outboundErrorIn } from '../../outbound/outbound-error.ts'
import type { ConnectionSecrets } from './connection-secrets.ts'
import { checkAddresses, checkKeys, discover } from './discovery.ts'
import { ProviderError, type ProviderMetadata } from './provider-metadata.ts'
import { configuredSso } from './sso-service.ts'
import type { ConnectionRow } from './sso-store.ts'

export type SsoTester = ReturnType<typeof createSsoTester>

export function createSsoTester(deps: { database: Database; outbound: Outbound; secrets: ConnectionSecrets }) {
  const { database, outbound, secrets } = deps

  function stepsFor(tenant: Tenant, row: ConnectionRow): readonly Step[] {
    let metadata: ProviderMetadata
    return [
      addressStep(outbound, row.issuer, 'The issuer'),
      [
        'discovery',
        async () => {
          metadata = await inWords(() => discover(row.issuer, outbound))
          return 'The configuration of the provider was fetched; its issuer is the same byte for byte.'
        },
      ],
      [
        'endpoints',
        async () => {
          await inWords(() => checkAddresses(metadata, outbound))
          return 'The Hub can connect to every endpoint of the provider.'
        },
      ],
      [
        'keys',
        async () => {
          const count = await inWords(() => checkKeys(metadata.jwks_uri, outbound))
          return `The provider publishes ${count} ${count === 1 ? 'key' : 'keys'} to verify its signatures with.`
        },
      ],
      ['client', () => tryClient(metadata, row, secrets.unseal(row, tenant), redirectUri(tenant))],
    ]
  }

  /** Authenticates with an invalid code: a provider that accepts the client rejects the code. */
  async function tryClient(metadata: ProviderMetadata, row: ConnectionRow, secret: string, redirect: string) {
    const body = new URLSearchParams({
      grant_type: 'authorization_code',
      code: 'connection-test',
      redirect_uri: redirect,
      code_verifier: 'connection-test-connection-test-connection-test',
    })
    const headers: Record<string, string> = { accept: 'application/json' }
    if (metadata.token_endpoint_auth_methods_supported.includes('client_secret_basic')) {
      const pair = [row.client_id, secret].map(formEncoded).join(':')
      headers.authorization = `Basic ${Buffer.from(pair).toString('base64')}`
    } else {
      body.set('client_id', row.client_id)
      body.set('client_secret', secret)
    }
    const answer = await inWords(() => post(metadata.token_endpoint, headers, body))
    const { error } = ((await answer.json().catch(() => undefined)) ?? {}) as { error?: unknown }
    if (answer.status === 401 || error === 'invalid_client' || error === 'unauthorized_client') {
      throw new TestStepError(
        `The token endpoint refuses the client (${answer.status}): client_id or client_secret is not what the ` +
          'provider knows. Configure single sign-on with those that it shows.',
      )
    }
    if (error === 'invalid_grant') return 'The provider knows the client and accepts its secret.'
    return `The token endpoint responded ${answer.status}; it did not reject the client.`
  }

  async function post(url: string, headers: Record<string, string>, body: URLSearchParams): Promise<Response> {
    try {
      return await outbound.fetch(url, { method: 'POST', headers, body })
    } catch (error) {
      const failed = outboundErrorIn(error)
      throw failed ? new ProviderError(`POST ${url}: the address ${failed.message}.`, { cause: failed }) : error
    }
  }

  return {
    /** Tests the stored connection. Throws `not-found` without one. */
    async run(tenant: Tenant): Promise<ConnectionTestResult> {
      const row = await readTenant(database, tenant.slug, configuredSso)
      return runConnectionTest(stepsFor(tenant, row))
    },
  }
}

const redirectUri = (tenant: Tenant) => `${tenant.baseUrl}/api/v1/auth/callback`

/** Encodes user name and password for HTTP Basic (RFC 6749, section 2.3.1). */
const formEncoded = (text: string) => new URLSearchParams({ '': text }).toString().slice(1)

async function inWords<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof ProviderError ? new TestStepError(error.message) : error
  }
}

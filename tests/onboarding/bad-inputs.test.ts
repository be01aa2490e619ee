import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Scope } from '../../contract/scopes.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { problemOf } from '../tenants/operator-lab.ts'

/** What decisions sections 1, 5 and 6 say of the endpoints of interface section 4.4, and nothing that they do not. */
let hub: TestHub
beforeAll(async () => {
  hub = await startHub({ settings: { HUB_OUTBOUND_ALLOW: '' } })
})
afterAll(() => hub.stop())

interface Endpoint {
  method: string
  path: string
  /** The smallest set of scopes that opens it; empty is any token. */
  scopes: readonly Scope[]
  /** Sets that do not. */
  tooFew: readonly (readonly Scope[])[]
  /** Sound in form. */
  body?: object
  /** Bodies that are refused, and where. */
  bad: readonly (readonly [object, string])[]
  /** What a tenant gets that has done no more than what stands above. */
  fresh: number
}

const settings = {
  scopes: ['connector:admin', 'roster:write'],
  tooFew: [['connector:admin'], ['roster:write'], ['hub:write', 'roster:write']],
} as const
const sso = {
  issuer: 'https://login.example.com',
  client_id: 'hub',
  client_secret: 'secret',
  allowed_email_domains: ['acme.example'],
}
const map = [{ group: 'Everyone', archetype_id: 'not an id' }]
const connector = { platform: 'claude', display_name: 'Claude', delivery: 'pull', credentials: {} }

const endpoints: Record<string, Endpoint> = {
  configureSso: {
    ...{ method: 'POST', path: '/api/v1/identity/sso/configure', body: sso, ...settings },
    bad: [
      [{ ...sso, issuer: undefined }, '/issuer'],
      [{ ...sso, client_id: undefined }, '/client_id'],
      [{ ...sso, client_secret: undefined }, '/client_secret'],
      [{ ...sso, issuer: 'http://login.example.com' }, '/issuer'],
      [{ ...sso, issuer: 'https://127.0.0.1' }, '/issuer'],
      [{ ...sso, issuer: 'https://[::ffff:169.254.169.254]' }, '/issuer'],
      [{ ...sso, issuer: 'https://user:password@login.example.com' }, '/issuer'],
      [{ ...sso, plan: 'gold' }, '/plan'],
    ],
    fresh: 400,
  },
  getSso: { method: 'GET', path: '/api/v1/identity/sso/configure', ...settings, bad: [], fresh: 404 },
  configureScim: {
    ...{ method: 'POST', path: '/api/v1/identity/scim/configure', ...settings },
    body: { mode: 'push', group_archetype_map: [] },
    bad: [
      [{}, '/mode'],
      [{ mode: 'both', group_archetype_map: [] }, '/mode'],
      [{ mode: 'push', group_archetype_map: map }, '/group_archetype_map/0/archetype_id'],
      [{ mode: 'pull', group_archetype_map: [], bearer_token: 'x' }, '/base_url'],
      [{ mode: 'pull', base_url: 'https://10.0.0.1/scim', bearer_token: 'x', group_archetype_map: [] }, '/base_url'],
    ],
    fresh: 200,
  },
  createConnector: {
    ...{ method: 'POST', path: '/api/v1/llm/connectors', body: connector },
    scopes: ['connector:admin'],
    tooFew: [['roster:write', 'hub:write', 'skill_entitlement:write']],
    bad: [
      [{ ...connector, platform: 'claud' }, '/platform'],
      [{ ...connector, platform: 'custom:' }, '/platform'],
      [{ ...connector, delivery: 'mail' }, '/delivery'],
      [{ ...connector, display_name: undefined }, '/display_name'],
      [{ ...connector, delivery: 'push' }, '/publish_url'],
      [{ ...connector, delivery: 'push', publish_url: 'https://2130706433/' }, '/publish_url'],
      [{ ...connector, delivery: 'push', publish_url: 'https://[fe80::1]/' }, '/publish_url'],
    ],
    fresh: 201,
  },
  provisionHub: {
    ...{ method: 'POST', path: '/api/v1/hub/provision', body: {} },
    scopes: ['connector:admin', 'hub:write'],
    tooFew: [['connector:admin'], ['hub:write'], ['connector:admin', 'roster:write']],
    bad: [
      [{ retention_days: 0 }, '/retention_days'],
      [{ retention_days: 1.5 }, '/retention_days'],
      [{ cmek: { provider: 'local', key_ref: 'x' } }, '/cmek'],
    ],
    fresh: 200,
  },
  syncRoster: {
    ...{ method: 'POST', path: '/api/v1/roster/scim:sync', body: {} },
    scopes: ['roster:write'],
    tooFew: [['roster:read', 'connector:admin']],
    bad: [[{ full: true }, '/full']],
    // SCIM was configured above.
    fresh: 202,
  },
  applyCowork: {
    ...{ method: 'POST', path: '/api/v1/skill-entitlement/coworks/nothing/apply', body: {} },
    scopes: ['skill_entitlement:write'],
    tooFew: [['skill_entitlement:read', 'hub:write']],
    bad: [
      [{ dry_run: 'yes' }, '/dry_run'],
      [{ archetype_ids: 'all' }, '/archetype_ids'],
    ],
    fresh: 404,
  },
  republishSkills: {
    ...{ method: 'POST', path: '/api/v1/skill-entitlement/distribution:republish', body: {} },
    scopes: ['skill_entitlement:write'],
    tooFew: [['skill_entitlement:read', 'connector:admin']],
    bad: [[{ force: true }, '/force']],
    fresh: 202,
  },
  getTenantHealth: {
    ...{ method: 'GET', path: '/api/v1/observability/tenant-health' },
    scopes: [],
    tooFew: [],
    bad: [],
    fresh: 200,
  },
  replaceTenant: {
    ...{ method: 'PUT', path: '/api/v1/tenant', body: { display_name: 'Globex' }, ...settings },
    bad: [
      [{ display_name: '' }, '/display_name'],
      [{ display_name: 'x', tenant: 'globex' }, '/tenant'],
    ],
    fresh: 200,
  },
}

describe.each(Object.entries(endpoints))('%s', (_name, endpoint) => {
  const { method, path, body } = endpoint
  const sent = body === undefined ? {} : { body }
  const scopes = endpoint.scopes.length > 0 ? endpoint.scopes : (['telemetry:write'] as const)

  test('asks for a token, the tenant header, and the token’s own tenant, in this order', async () => {
    expect(problemOf(await hub.call('globex', method, path, { ...sent, token: null }))).toEqual([
      401,
      'authentication-failed',
    ])
    const without = await hub.call('globex', method, path, { ...sent, headers: { 'x-service-tenant': undefined } })
    expect([...problemOf(without), without.body.errors[0].pointer]).toEqual([
      400,
      'validation-failed',
      '/headers/x-service-tenant',
    ])
    for (const tenant of ['acme', 'nowhere']) {
      const foreign = await hub.call('globex', method, path, { ...sent, headers: { 'x-service-tenant': tenant } })
      expect([...problemOf(foreign), foreign.body.tenant_slug]).toEqual([403, 'invalid-tenant', tenant])
    }
  })

  test('opens to its scopes alone', async () => {
    for (const tooFew of endpoint.tooFew) {
      const answer = await hub.call('globex', method, path, { ...sent, scopes: tooFew })
      expect([tooFew, ...problemOf(answer)]).toEqual([tooFew, 403, 'insufficient-scope'])
    }
    const { status, text } = await hub.call('globex', method, path, { ...sent, scopes })
    expect([status, text]).toEqual([endpoint.fresh, text])
  })

  test('says where a bad input is wrong', async () => {
    const unknown = await hub.call('globex', method, `${path}?nope=1`, { ...sent, scopes })
    expect([...problemOf(unknown), unknown.body.errors[0].pointer]).toEqual([400, 'validation-failed', '/query/nope'])
    for (const [wrong, pointer] of endpoint.bad) {
      const answer = await hub.call('acme', method, path, { body: wrong, scopes })
      const pointers = answer.body.errors?.map((error: { pointer: string }) => error.pointer)
      expect([wrong, ...problemOf(answer), pointers]).toEqual([
        wrong,
        400,
        'validation-failed',
        expect.arrayContaining([pointer]),
      ])
    }
    if (body === undefined) return
    const malformed = await hub.call('acme', method, path, { body: '{"a":1,"a":2}', scopes })
    expect(problemOf(malformed)).toEqual([400, 'malformed-json'])
    const plain = { body: 'x', scopes, headers: { 'content-type': 'text/plain' } }
    expect(problemOf(await hub.call('acme', method, path, plain))).toEqual([415, 'unsupported-media-type'])
  })
})

test('action POSTs take no body at all', async () => {
  for (const name of ['provisionHub', 'syncRoster', 'applyCowork', 'republishSkills']) {
    const { method, path, scopes, fresh } = endpoints[name]!
    const { status, text } = await hub.call('cmode', method, path, { scopes })
    // There SCIM is not configured.
    expect([name, status, text]).toEqual([name, name === 'syncRoster' ? 409 : fresh, text])
  }
})

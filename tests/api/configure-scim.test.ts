import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { eventsOf } from '../auth/auth-lab.ts'
import { type CallOptions, startHub, type TestHub, type TestTenant } from '../support/hub.ts'
import { type FakeScimSource, startScimSource } from '../support/scim-source.ts'

const path = '/api/v1/identity/scim/configure'
let hub: TestHub
let source: FakeScimSource

beforeAll(async () => {
  hub = await startHub({ settings: { HUB_OUTBOUND_ALLOW: '127.0.0.1' } })
  source = await startScimSource()
  for (const tenant of ['acme', 'globex', 'cmode'] as const) {
    const archetypes = [{ archetype_id: 'analyst' }, { archetype_id: 'writer' }]
    await hub.call(tenant, 'PUT', '/api/v1/roster/archetypes', { body: { archetypes } })
  }
})
afterAll(async () => {
  await source.stop()
  await hub.stop()
})
afterEach(() => {
  source.faults = {}
})

const configure = (tenant: TestTenant, body: unknown, options: CallOptions = {}) =>
  hub.call(tenant, 'POST', path, { body, ...options })
const stored = (tenant: TestTenant) => hub.call(tenant, 'GET', path)
const pull = (change: object = {}) => ({
  mode: 'pull',
  base_url: source.baseUrl,
  bearer_token: source.token,
  ...change,
})
const map = (group: string, archetype_id: string) => ({ group, archetype_id })
const changes = async (tenant: TestTenant) =>
  (await eventsOf(hub.test.database, tenant)).filter(
    ({ event_kind, details }) => event_kind === 'connector.added' || String(details.change).startsWith('scim'),
  )

describe('a directory that pushes', () => {
  test('gets an address and a token, which is shown once and kept as a hash', async () => {
    const answer = await configure('acme', { mode: 'push', group_archetype_map: [map('Analysts', 'analyst')] })
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        connection_id: expect.stringMatching(/^scim_[A-Za-z0-9]{24}$/),
        mode: 'push',
        scim_base_url: `${hub.baseUrl}/scim/v2/acme`,
        bearer_token: expect.stringMatching(/^scim[A-Za-z0-9]{44}$/),
        group_archetype_map: [map('Analysts', 'analyst')],
        inbound: {
          connection_id: answer.body.connection_id,
          secret: expect.stringMatching(/^whsec_[A-Za-z0-9]{44}$/),
        },
        created_at: expect.stringMatching(/\.\d{6}Z$/),
        updated_at: expect.stringMatching(/\.\d{6}Z$/),
      },
    ])
    const { bearer_token: token, inbound, ...rest } = answer.body
    const state = { ...rest, inbound: { connection_id: rest.connection_id } }
    expect((await stored('acme')).body).toEqual(state)
    const [event, ...others] = await changes('acme')
    expect(others).toEqual([])
    expect(event).toMatchObject({
      event_kind: 'connector.added',
      subject: `connection:${state.connection_id}`,
      details: { kind: 'scim_idp', mode: 'push', group_archetype_map: [map('Analysts', 'analyst')] },
    })
    const { connections: scimConnections } = hub.modules.scimAccess
    const acme = await hub.tenant('acme')
    expect(await scimConnections.admits(acme, token)).toMatchObject({ connectionId: state.connection_id, mode: 'push' })
    expect(await scimConnections.admits(acme, `${token}x`)).toBeUndefined()
    expect(await scimConnections.admits(await hub.tenant('globex'), token)).toBeUndefined()
    const superuser = await hub.superuserClient()
    const { rows } = await superuser.query(`select row_to_json(s)::text as text from hub.scim_configurations s`)
    expect(rows.map((row) => row.text).join()).not.toContain(token)
    for (const secret of [token, inbound.secret]) expect(JSON.stringify([event, hub.logLines])).not.toContain(secret)
  })

  test('the same again changes nothing, shows no token and writes nothing; without a map it stays', async () => {
    const before = [(await stored('acme')).body, await changes('acme')]
    for (const body of [{ mode: 'push', group_archetype_map: [map('Analysts', 'analyst')] }, { mode: 'push' }]) {
      const again = await configure('acme', body)
      expect([again.status, again.body]).toEqual([200, before[0]])
    }
    expect([(await stored('acme')).body, await changes('acme')]).toEqual(before)
  })

  test('another map is a change, each entry once', async () => {
    const entries = [map('Writers', 'writer'), map('Writers', 'writer'), map('Analysts', 'writer')]
    const answer = await configure('acme', { mode: 'push', group_archetype_map: entries })
    expect(answer.body).toMatchObject({ group_archetype_map: [entries[0], entries[2]] })
    expect(answer.body).not.toHaveProperty('bearer_token')
    expect((await changes('acme')).at(-1)).toMatchObject({
      event_kind: 'tenant.config_changed',
      details: {
        change: 'scim',
        before: { group_archetype_map: [map('Analysts', 'analyst')] },
        after: { group_archetype_map: [entries[0], entries[2]] },
        bearer_token_changed: false,
      },
    })
    expect((await configure('acme', { mode: 'push', group_archetype_map: [] })).body.group_archetype_map).toEqual([])
  })

  test('ten at once leave one connection and one token', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => configure('cmode', { mode: 'push' })))
    expect(new Set(answers.map((answer) => answer.body.connection_id)).size).toBe(1)
    expect(answers.filter((answer) => answer.body.bearer_token !== undefined)).toHaveLength(1)
    expect(await changes('cmode')).toHaveLength(1)
  })
})

test('a map may name archetypes that come later; answers and health say which are not there', async () => {
  const named = [map('Analysts', 'analyst'), map('Lawyers', 'lawyer'), map('Counsel', 'lawyer')]
  const body = { mode: 'push', group_archetype_map: named }
  const answer = await configure('cmode', body)
  expect([answer.status, answer.body]).toMatchObject([
    200,
    { group_archetype_map: named, unknown_archetypes: ['lawyer'] },
  ])
  expect((await configure('cmode', body)).body).toEqual(answer.body)
  expect((await stored('cmode')).body.unknown_archetypes).toEqual(['lawyer'])

  const { bearer_token: token } = (await hub.call('cmode', 'POST', '/api/v1/identity/scim:rotate-token')).body
  const scim = (resource: string, content: object) =>
    fetch(`${hub.baseUrl}/scim/v2/cmode/${resource}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
      body: JSON.stringify(content),
    }).then(async (response) => (await response.json()) as { id: string })
  const { id } = await scim('Users', { userName: 'kim@cmode.example', active: true })
  await scim('Groups', { displayName: 'Lawyers', members: [{ value: id }] })
  const roster = async () => (await hub.call('cmode', 'GET', '/api/v1/observability/tenant-health')).body.checks.roster
  expect(await roster()).toMatchObject({
    ok: false,
    unmatched: 1,
    detail: expect.stringContaining('lawyer, which the tenant does not have: PUT /api/v1/roster/archetypes'),
  })

  const archetypes = ['analyst', 'writer', 'lawyer'].map((archetype_id) => ({ archetype_id }))
  await hub.call('cmode', 'PUT', '/api/v1/roster/archetypes', { body: { archetypes } })
  expect(await roster()).toMatchObject({ ok: true, unmatched: 0 })
  expect((await stored('cmode')).body).not.toHaveProperty('unknown_archetypes')
})

describe('a directory that is read', () => {
  test('is asked once, and its token is kept sealed and never shown', async () => {
    const asked = source.requests.length
    const answer = await configure('globex', pull({ base_url: `${source.baseUrl}/` }))
    expect([answer.status, answer.body]).toMatchObject([200, { mode: 'pull', base_url: source.baseUrl }])
    expect(source.requests.slice(asked)).toEqual(['GET /Users?startIndex=1&count=1'])
    const again = await configure('globex', pull())
    const { connection_id } = answer.body
    expect(answer.body.inbound).toEqual({ connection_id, secret: expect.stringMatching(/^whsec_/) })
    expect(again.body).toEqual({ ...answer.body, inbound: { connection_id } })
    expect(await changes('globex')).toHaveLength(1)
    const superuser = await hub.superuserClient()
    const { rows } = await superuser.query(
      `select bearer_token_sealed from hub.scim_configurations where tenant_id = 'globex'`,
    )
    expect(rows[0].bearer_token_sealed.toString('latin1')).not.toContain(source.token)
    expect(JSON.stringify([await changes('globex'), hub.logLines, again.body])).not.toContain(source.token)
  })

  test('what is left out stays: address, and the token of that address', async () => {
    const before = (await stored('globex')).body
    const mapped = { mode: 'pull', group_archetype_map: [map('Analysts', 'analyst')] }
    const answer = await configure('globex', mapped)
    expect([answer.status, answer.body]).toMatchObject([
      200,
      {
        connection_id: before.connection_id,
        base_url: source.baseUrl,
        group_archetype_map: [map('Analysts', 'analyst')],
      },
    ])
    const again = await configure('globex', { mode: 'pull', base_url: `${source.baseUrl}/`, group_archetype_map: [] })
    expect([again.status, again.body.group_archetype_map]).toEqual([200, []])
    expect((await changes('globex')).slice(-2)).toMatchObject([
      { details: { change: 'scim', bearer_token_changed: false } },
      { details: { change: 'scim', bearer_token_changed: false } },
    ])
    const asked = source.requests.length
    const elsewhere = await configure('globex', {
      mode: 'pull',
      base_url: source.baseUrl.replace('127.0.0.1', 'localhost'),
    })
    expect(elsewhere.body.errors.map((error: { pointer: string }) => error.pointer)).toContain('/bearer_token')
    expect(source.requests.length).toBe(asked)
  })

  test('a token that was left out is not put back over a change', async () => {
    source.faults.slowMs = 500
    const asked = source.nextRequest('/Users')
    const late = configure('globex', { mode: 'pull', group_archetype_map: [map('Late', 'analyst')] })
    await asked
    expect((await configure('globex', { mode: 'push' })).status).toBe(200)
    const answer = await late
    expect([answer.status, answer.body.type]).toEqual([409, `${hub.baseUrl}/errors/concurrent-modification`])
    expect((await stored('globex')).body).toMatchObject({ mode: 'push', group_archetype_map: [] })
    source.faults = {}
    expect((await configure('globex', pull())).status).toBe(200)
  })

  test('from push to pull the token of the Hub ends, and back there is another', async () => {
    const { bearer_token: token, connection_id } = (await configure('globex', { mode: 'push' })).body
    const globex = await hub.tenant('globex')
    expect(await hub.modules.scimAccess.connections.admits(globex, token)).toBeDefined()
    const back = await configure('globex', pull())
    expect(back.body).toMatchObject({ connection_id, mode: 'pull' })
    expect(back.body).not.toHaveProperty('bearer_token')
    expect(await hub.modules.scimAccess.connections.admits(globex, token)).toBeUndefined()
    expect((await changes('globex')).slice(-2)).toMatchObject([
      { event_kind: 'tenant.config_changed', details: { before: { mode: 'pull' }, after: { mode: 'push' } } },
      { event_kind: 'tenant.config_changed', details: { before: { mode: 'push' }, after: { mode: 'pull' } } },
    ])
  })

  test('may have no groups, unless archetypes are to come of them', async () => {
    source.faults.answer = ({ resource }) => (resource === 'Groups' ? { status: 404 } : undefined)
    const before = (await stored('globex')).body
    const refused = await configure('globex', pull({ group_archetype_map: [map('Analysts', 'analyst')] }))
    expect([refused.status, refused.body.errors]).toEqual([
      400,
      [{ pointer: '/group_archetype_map', detail: expect.stringMatching(/serves none: GET \/Groups answers 404/) }],
    ])
    expect((await stored('globex')).body).toEqual(before)
    expect((await configure('globex', pull())).status).toBe(200)
  })

  test.each([
    [
      'a token that it refuses',
      () => pull({ bearer_token: 'wrong' }),
      '/bearer_token',
      /rejects the bearer token \(401\)/,
    ],
    [
      'another address',
      () => pull({ base_url: `${source.baseUrl}/nothing` }),
      '/base_url',
      /does not know this address/,
    ],
    ['an address of people', () => pull({ base_url: `${source.baseUrl}/Users` }), '/base_url', /without \/Users/],
    ['a query', () => pull({ base_url: `${source.baseUrl}?a=b` }), '/base_url', /no query/],
  ])('refused: %s', async (_name, body, pointer, words) => {
    const before = (await stored('globex')).body
    const answer = await configure('globex', body())
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, pointer])
    expect(answer.body.detail).toMatch(words)
    expect(answer.text).not.toContain(source.token)
    expect((await stored('globex')).body).toEqual(before)
  })

  test.each([
    ['an error', { status: 500, body: 'secret of the inside' }, /responded 500/],
    ['what is no JSON', { status: 200, body: '<html>secret of the inside' }, /not JSON/],
    ['JSON that is no list', { status: 200, body: '{"secret of the inside": 1}' }, /no list `Resources`/],
    ['a redirect', { status: 302, headers: { location: 'http://169.254.169.254/' } }, /redirect/],
  ])('refused when it answers with %s', async (_name, fault, words) => {
    source.faults.answer = () => fault
    const answer = await configure('globex', pull({ bearer_token: 'other' }))
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, '/base_url'])
    expect(answer.body.detail).toMatch(words)
    expect(answer.text).not.toContain('secret of the inside')
  })
})

describe('refused for its shape', () => {
  const valid = { mode: 'pull', base_url: 'https://directory.acme.example', bearer_token: 't' }
  test.each([
    ['no mode', { ...valid, mode: undefined }, ['/mode']],
    ['another mode', { ...valid, mode: 'both' }, ['/mode']],
    ['pull without address and token', { mode: 'pull' }, ['/base_url', '/bearer_token']],
    ['push with both', { ...valid, mode: 'push' }, ['/base_url', '/bearer_token']],
    ['an unknown member', { mode: 'push', colour: 'red' }, ['/colour']],
    ['a token with a line break', { ...valid, bearer_token: 'a\nb' }, ['/bearer_token']],
    ['a map that is none', { mode: 'push', group_archetype_map: {} }, ['/group_archetype_map']],
    ['an empty group', { mode: 'push', group_archetype_map: [map('', 'analyst')] }, ['/group_archetype_map/0/group']],
    [
      'faults that the schema finds, and others',
      { mode: 'pull', base_url: 'ftp://x', bearer_token: 'a b', group_archetype_map: [map('', 'analyst')], colour: 1 },
      ['/bearer_token', '/group_archetype_map/0/group', '/colour', '/base_url'],
    ],
    [
      'no mode, and an address inside',
      { ...valid, mode: undefined, base_url: 'https://10.0.0.1' },
      ['/mode', '/base_url'],
    ],
    ['an address inside', { ...valid, base_url: 'https://10.0.0.1/scim' }, ['/base_url']],
    ['an address inside, mapped', { ...valid, base_url: 'https://[::ffff:169.254.169.254]/' }, ['/base_url']],
    ['an address as a number', { ...valid, base_url: 'https://2130706433/' }, ['/base_url']],
    ['a user in the address', { ...valid, base_url: 'https://a:b@directory.acme.example' }, ['/base_url']],
    ['a name that does not resolve', { ...valid, base_url: 'https://no-such-host.invalid' }, ['/base_url']],
  ])('%s', async (_name, body, pointers) => {
    const before = (await stored('acme')).body
    const answer = await configure('acme', body)
    expect([answer.status, answer.body.type]).toEqual([400, `${hub.baseUrl}/errors/validation-failed`])
    expect(answer.body.errors.map((error: { pointer: string }) => error.pointer).sort()).toEqual([...pointers].sort())
    expect((await stored('acme')).body).toEqual(before)
  })
})

test('refused: no token, too small a scope, another tenant', async () => {
  const refused = async (options: object) =>
    (await configure('acme', { mode: 'push' }, options)).body.type.split('/').at(-1)
  expect(await refused({ token: null })).toBe('authentication-failed')
  expect(await refused({ scopes: ['connector:admin'] })).toBe('insufficient-scope')
  expect(await refused({ scopes: ['roster:write'] })).toBe('insufficient-scope')
  expect(await refused({ headers: { 'x-service-tenant': 'globex' } })).toBe('invalid-tenant')
  const scopes = ['connector:admin', 'roster:write'] as const
  expect((await configure('acme', { mode: 'push' }, { scopes })).status).toBe(200)
})

test('the example of the OpenAPI document is taken', async () => {
  const document = (await hub.call('globex', 'GET', '/v1/openapi.json', { token: null })).body
  const { example } = document.paths[path].post.requestBody.content['application/json']
  expect(example.mode).toBe('push')
  expect((await configure('globex', example)).status).toBe(200)
  expect((await hub.call('globex', 'DELETE', path)).status).toBe(204)
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AuthHub, startAuthHub } from './auth-hub.ts'

let hub: AuthHub
beforeAll(async () => {
  hub = await startAuthHub({ settings: { HUB_TRUSTED_PROXIES: '127.0.0.0/8' } })
})
afterAll(() => hub.close())

const accounts = '/api/v1/service-accounts'

/** Refusals in the log of a tenant, about that subject. */
async function refusalsOf(tenant: string, subject?: string) {
  await hub.hub.modules.denials.settled()
  const events = await hub.events(tenant)
  return events
    .filter((event) => ['auth.login_failed', 'auth.access_refused'].includes(event.event_kind))
    .filter((event) => subject === undefined || event.subject === subject)
    .map(({ event_kind, details }) => ({ kind: event_kind, ...details }))
}

async function account(tenant = 'acme', limits: object = {}) {
  const made = await hub.call(tenant, 'POST', accounts, { body: { name: 'app', scopes: ['hub:read'], ...limits } })
  const { client_id, client_secret } = made.body
  return { fields: { client_id, client_secret }, subject: `service_account:${client_id}` }
}

const written = { actor: 'service:access-control', address: '127.0.0.1', request_id: expect.any(String) }

describe('a refused token request of a known account is told to its tenant', () => {
  test('for a wrong secret: the first at once, those that repeat it together', async () => {
    const { fields, subject } = await account()
    for (let guess = 0; guess < 20; guess += 1) await hub.requestToken({ ...fields, client_secret: `guess${guess}` })
    const refusals = await refusalsOf('acme', subject)
    expect(refusals).toEqual([
      { kind: 'auth.login_failed', reason: 'wrong_secret', ...written },
      {
        kind: 'auth.login_failed',
        reason: 'wrong_secret',
        ...written,
        count: 19,
        first_at: expect.stringMatching(/\.\d{6}Z$/),
        last_at: expect.stringMatching(/\.\d{6}Z$/),
      },
    ])
    expect(JSON.stringify(refusals)).not.toContain('guess')
  })

  test('once for each address', async () => {
    const { fields, subject } = await account()
    for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.1']) {
      await hub.requestToken({ ...fields, client_secret: 'wrong' }, { 'x-forwarded-for': address })
    }
    const refusals = await refusalsOf('acme', subject)
    expect(refusals.map(({ address, count }: Record<string, unknown>) => [address, count])).toEqual([
      ['192.0.2.1', undefined],
      ['192.0.2.2', undefined],
      ['192.0.2.1', 1],
    ])
  })

  test.each([
    ['disabled', {}, (path: string) => hub.call('acme', 'DELETE', path)],
    ['address', { allowed_addresses: ['10.0.0.0/8'] }, async () => {}],
  ])('as %s', async (reason, limits, end) => {
    const { fields, subject } = await account('acme', limits)
    await end(`${accounts}/${fields.client_id}`)
    await hub.requestToken(fields)
    expect(await refusalsOf('acme', subject)).toEqual([{ kind: 'auth.login_failed', reason, ...written }])
  })

  test('as expired', async () => {
    const { fields, subject } = await account()
    const superuser = await hub.hub.superuserClient()
    const past = `update hub.service_accounts set expires_at = now() - interval '1 minute' where client_id = $1`
    await superuser.query(past, [fields.client_id])
    await hub.hub.test.proveRows()
    await hub.requestToken(fields)
    expect(await refusalsOf('acme', subject)).toEqual([{ kind: 'auth.login_failed', reason: 'expired', ...written }])
  })

  test('for another tenant’s header, as refused access', async () => {
    const { fields, subject } = await account()
    await hub.requestToken(fields, { 'x-service-tenant': 'globex' })
    const globex = await refusalsOf('globex')
    expect(await refusalsOf('acme', subject)).toEqual([
      { kind: 'auth.access_refused', reason: 'wrong_tenant', tenant_slug: 'globex', ...written },
    ])
    expect(JSON.stringify(globex)).not.toContain(subject)
  })
})

describe('a refused request with a good token is told to the tenant of the token', () => {
  test('for its scope', async () => {
    const { fields, subject } = await account()
    const token = (await hub.requestToken(fields)).body.access_token
    for (let time = 0; time < 3; time += 1) await hub.call('acme', 'GET', accounts, { token })
    const refusal = {
      kind: 'auth.access_refused',
      reason: 'scope',
      operation_id: 'listServiceAccounts',
      required_scopes: expect.arrayContaining(['hub:purge', 'connector:admin']),
      ...written,
    }
    expect(await refusalsOf('acme', subject)).toEqual([refusal, expect.objectContaining({ ...refusal, count: 2 })])
  })

  test('for another tenant, whose log has nothing of it', async () => {
    const { fields, subject } = await account()
    const token = (await hub.requestToken(fields)).body.access_token
    const before = (await hub.events('globex')).length
    for (const slug of ['globex', 'x'.repeat(200)]) {
      const headers = { 'x-service-tenant': slug }
      expect((await hub.call('acme', 'GET', '/api/v1/hub/records', { token, headers })).status).toBe(403)
      const told = await refusalsOf('acme', subject)
      expect(told.at(-1)).toEqual({
        kind: 'auth.access_refused',
        reason: 'wrong_tenant',
        operation_id: 'queryRecords',
        tenant_slug: slug.slice(0, 63),
        ...written,
      })
    }
    expect((await hub.events('globex')).length).toBe(before)
  })
})

test('strangers write nothing, whatever they try', async () => {
  await hub.hub.modules.denials.settled()
  const tenants = ['acme', 'globex', 'cmode', 'bmode']
  const count = async () => Promise.all(tenants.map(async (tenant) => (await hub.events(tenant)).length))
  const before = await count()
  await hub.requestToken({ client_id: `sa${'Z'.repeat(24)}`, client_secret: 'x' })
  await hub.requestToken({ client_id: 'x' })
  for (const token of ['nonsense', 'a.b.c']) await hub.call('acme', 'GET', accounts, { token })
  await hub.call('acme', 'GET', accounts, { headers: { authorization: '' } })
  await hub.hub.modules.denials.settled()
  expect(await count()).toEqual(before)
})

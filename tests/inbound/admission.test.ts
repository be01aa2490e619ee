import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { configurePath } from '../roster-sync/sync-lab.ts'
import { type Answer, startHub, type TestHub } from '../support/hub.ts'
import {
  addPlatform,
  addProvider,
  type Connection,
  inboundPath,
  person,
  type SendOptions,
  send,
  signatureOf,
} from './inbound-lab.ts'

const ownHost = '127.0.0.2:9443'
const operator = { operator: 'test' } as const
const queries: string[] = []
let hub: TestHub
let provider: Connection
let platform: Connection
let ofCmode: Connection
beforeAll(async () => {
  hub = await startHub({ onQuery: (text) => queries.push(text) })
  provider = await addProvider(hub)
  platform = await addPlatform(hub)
  ofCmode = await addPlatform(hub, 'cmode')
  await hub.modules.tenants.operated.update('cmode', { base_url: `http://${ownHost}` }, operator)
})
afterAll(() => hub.stop())

const nowSeconds = () => Math.floor(Date.now() / 1000)
const message = () => JSON.stringify(person('deactivated', { user_name: 'nobody' }))
/** All that a stranger sees of an answer. */
const seen = ({ status, headers, body }: Answer) => {
  const { instance: _, ...problem } = body
  const names = Object.keys(headers).filter((name) => !['date', 'x-service-request-id'].includes(name))
  const shown = Object.fromEntries(names.map((name) => [name, headers[name]]))
  return { status, headers: { ...shown, ratelimit: '', 'content-length': '' }, problem }
}

describe('whatever is wrong is one answer, after the same steps', () => {
  const asked = async (connection: Connection, options: SendOptions = {}) => {
    const before = queries.length
    const answer = await send(hub, connection, message(), options)
    const steps = queries.slice(before).filter((text) => /inbound_|"slug" = /.test(text))
    return { ...seen(answer), steps }
  }
  const unknown = { connectionId: `con_${'Z'.repeat(24)}`, secret: 'whsec_unknown' }

  const cases: [string, () => Promise<Awaited<ReturnType<typeof asked>>>][] = [
    ['no signature', () => asked(provider, { signature: null })],
    ['a malformed one', () => asked(provider, { signature: 'sha256=abc' })],
    ['a stale one', () => asked(provider, { signature: signatureOf(message(), provider.secret, nowSeconds() - 400) })],
    [
      'one of the future',
      () => asked(provider, { signature: signatureOf(message(), provider.secret, nowSeconds() + 90) }),
    ],
    ['an unknown connection', () => asked(unknown)],
    ['no connection id', () => asked({ ...unknown, connectionId: '%20' })],
    ['the secret of another connection', () => asked({ ...provider, secret: platform.secret })],
    ['a token beside it', () => asked({ ...provider, secret: 'x' }, { headers: { authorization: 'Bearer x' } })],
  ]
  test.each(cases)('%s', async (_name, ask) => {
    const wrong = await asked({ ...provider, secret: 'whsec_wrong' })
    const other = await ask()
    expect(other).toEqual(wrong)
    expect([other.status, other.problem.title]).toEqual([401, wrong.problem.title])
    expect(other.steps).toHaveLength(3)
  })

  test('another tenant’s own address', async () => {
    const headers = { host: ownHost }
    const wrong = await asked({ ...ofCmode, secret: 'whsec_wrong' }, { headers })
    expect(await asked(provider, { headers })).toEqual(wrong)
    expect(wrong.steps).toHaveLength(3)
  })

  test('the common address, for a tenant that has its own', async () => {
    const wrong = await asked({ ...ofCmode, secret: 'whsec_wrong' })
    expect(await asked(ofCmode)).toEqual(wrong)
    expect(wrong.steps).toHaveLength(3)
  })

  test('a tenant that is suspended', async () => {
    const wrong = await asked({ ...platform, secret: 'whsec_wrong' })
    expect((await send(hub, platform, '{}')).status).toBe(400)
    await hub.modules.tenants.operated.update('acme', { suspended: true }, operator)
    try {
      expect(await asked(platform)).toEqual(wrong)
    } finally {
      await hub.modules.tenants.operated.update('acme', { suspended: false }, operator)
    }
  })

  test('what was removed, however good its signature', async () => {
    const gone = [await addPlatform(hub, 'globex'), await addProvider(hub, 'globex')] as const
    for (const each of gone) expect((await send(hub, each, '{}')).status).toBe(400)
    await hub.call('globex', 'DELETE', `/api/v1/llm/connectors/${gone[0].connectionId}`)
    await hub.call('globex', 'DELETE', configurePath)
    const wrong = await asked(unknown)
    for (const each of gone) expect(await asked(each)).toEqual(wrong)
    const superuser = await hub.superuserClient()
    for (const table of ['hub.inbound_directory', 'hub.inbound_secrets']) {
      const { rows } = await superuser.query(`select 1 from ${table} where connection_id = any ($1)`, [
        gone.map(({ connectionId }) => connectionId),
      ])
      expect(rows).toEqual([])
    }
  })
})

test('a Mode C tenant is reached at its own address', async () => {
  const taken = await send(hub, ofCmode, '{}', { headers: { host: ownHost } })
  expect([taken.status, taken.body.type]).toEqual([400, `http://${ownHost}/errors/validation-failed`])
})

test('what another tenant calls itself makes no difference', async () => {
  const answer = await send(hub, provider, message(), { headers: { 'x-service-tenant': 'globex' } })
  expect(answer.status).toBe(200)
})

test('the header that is there twice is none', async () => {
  const body = message()
  const header = signatureOf(body, provider.secret)
  const answer = await fetch(`${hub.baseUrl}${inboundPath}/${provider.connectionId}`, {
    method: 'POST',
    body,
    headers: [
      ['content-type', 'application/json'],
      ['x-service-signature', header],
      ['x-service-signature', header],
    ],
  })
  expect(answer.status).toBe(401)
})

test('a secret that was just made is good at once, and the one before still is', async () => {
  const rotated = await hub.call('acme', 'POST', '/api/v1/identity/scim:rotate-inbound-secret')
  expect((await send(hub, { ...provider, secret: rotated.body.secret }, message())).status).toBe(200)
  expect((await send(hub, provider, message())).status).toBe(200)
})

test('while the database is away the answer is 503', async () => {
  const other = await startHub()
  const connection = await addProvider(other)
  await other.test.database.close()
  const answer = await send(other, connection, message())
  expect([answer.status, Number(answer.headers['retry-after']) >= 1]).toEqual([503, true])
  await other.stop().catch(() => undefined)
})

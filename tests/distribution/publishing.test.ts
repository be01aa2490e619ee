import { createHmac } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { parseKeyDocument, verifySkillManifestSync } from '../../provenance/index.ts'
import { nodeCrypto } from '../../server/records/node-crypto.ts'
import {
  connectorsPath,
  connectorWhen,
  must,
  publishSkill,
  pushBody,
  startConnectorHub,
} from '../connectors/connector-lab.ts'
import type { TestHub } from '../support/hub.ts'
import {
  answerWith,
  type Behaviour,
  closeAtOnce,
  hang,
  type PublishReceiver,
  redirectTo,
  startPublishReceiver,
  streamForever,
} from '../support/publish-receiver.ts'

let hub: TestHub
const receivers: PublishReceiver[] = []
const ids: string[] = []

beforeAll(async () => {
  hub = await startConnectorHub()
  await publishSkill(hub, 'acme', { skill_id: 'sum-up' })
  hub.modules.distribution.publisher.start()
})
afterAll(async () => {
  await hub.stop()
  await Promise.all(receivers.map((receiver) => receiver.stop()))
})
afterEach(async () => {
  for (const id of ids.splice(0)) await must(hub, 'acme', 'DELETE', `${connectorsPath}/${id}`)
})

async function receiverOf(behaviour?: Behaviour) {
  const receiver = await startPublishReceiver(behaviour)
  receivers.push(receiver)
  return receiver
}

let made = 0
async function connect(receiver: PublishReceiver, credentials: Record<string, string> = {}) {
  made += 1
  const body = pushBody(receiver.url, { display_name: `Lab ${made}`, credentials })
  const { connector_id } = (await must(hub, 'acme', 'POST', connectorsPath, { body })).body
  ids.push(connector_id)
  return connector_id as string
}

describe('a connector that is pushed to', () => {
  test('gets the signed manifest at once, with its credentials, and is healthy', async () => {
    const receiver = await receiverOf()
    const credentials = { bearer_token: 'b-secret', api_key: 'k-secret', signing_secret: 's-secret', other: 'o-secret' }
    const id = await connect(receiver, credentials)
    const [got] = await receiver.count(1)
    expect(got).toMatchObject({
      method: 'POST',
      path: '/skills',
      headers: {
        'content-type': 'application/json',
        authorization: 'Bearer b-secret',
        'x-api-key': 'k-secret',
        'x-service-tenant': 'acme',
        'x-service-connector-id': id,
      },
      body: {
        version: 1,
        tenant: 'acme',
        connector_id: id,
        platform: 'custom:lab',
        revision: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
        skills: [
          {
            skill_id: 'sum-up',
            skill_version: '1.0.0',
            name: 'Skill sum-up',
            record_id: expect.any(String),
            provenance_hash: expect.stringMatching(/^sha256:/),
            archetype_ids: [],
            manifest: { skill_md: 'Do it.' },
          },
        ],
      },
    })
    expect(JSON.stringify(got)).not.toContain('o-secret')
    const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(got!.headers['x-service-signature']))!
    expect(createHmac('sha256', 's-secret').update(`${t}.${got!.text}`).digest('hex')).toBe(v1)

    const connector = await connectorWhen(hub, id, ({ health }) => health.status === 'ok')
    expect(connector.health).toMatchObject({ failures: 0, etag: got!.headers['x-service-manifest-etag'] })
    const keys = parseKeyDocument(
      (await hub.call('acme', 'GET', '/.well-known/provenance-keys.json')).body,
      nodeCrypto.sha256,
    )
    const expected = { logName: connector.log_name, connectorId: id, maxAgeSeconds: 60, nowMs: Date.now() }
    expect(verifySkillManifestSync(got!.body, keys, nodeCrypto, expected)).toMatchObject({ verified: true })
  })

  test('gets a change at once, not when its period is over', async () => {
    const receiver = await receiverOf()
    const id = await connect(receiver)
    await receiver.count(1)
    await connectorWhen(hub, id, ({ health }) => health.status === 'ok')
    await publishSkill(hub, 'acme', { skill_id: 'translate' })
    const skillsOf = () => receiver.received.at(-1)!.body.skills.map((skill: { skill_id: string }) => skill.skill_id)
    await expect.poll(skillsOf, { interval: 20 }).toEqual(['sum-up', 'translate'])
    await must(hub, 'acme', 'POST', '/api/v1/skill-entitlement/skills/translate:transition', {
      body: { state: 'deprecated' },
    })
    await expect.poll(skillsOf, { interval: 20 }).toEqual(['sum-up'])
  })

  test('is called again before 30 seconds have passed, though nothing changes', async () => {
    const receiver = await receiverOf()
    const id = await connect(receiver)
    await receiver.count(1)
    await connectorWhen(hub, id, ({ health }) => health.status === 'ok')
    const db = await hub.superuserClient()
    const { rows } = await db.query(
      `select extract(epoch from due_at - published_at)::float8 as seconds from hub.connector_deliveries
       where connector_id = $1`,
      [id],
    )
    expect(rows[0].seconds).toBeGreaterThan(0)
    expect(rows[0].seconds).toBeLessThan(28)
    await db.query(`update hub.connector_deliveries set due_at = now() + interval '300 ms' where connector_id = $1`, [
      id,
    ])
    await receiver.count(2)
  })

  test('once removed is called no more, and what is on its way to it is broken off', async () => {
    let left = 0
    const receiver = await receiverOf((response) => void response.on('close', () => (left += 1)))
    const id = await connect(receiver)
    await receiver.count(1)
    await must(hub, 'acme', 'DELETE', `${connectorsPath}/${id}`)
    await expect.poll(() => left).toBe(1)
    ids.splice(0)
    await publishSkill(hub, 'acme', { skill_id: 'after-removal' })
    const witness = await receiverOf()
    await connect(witness)
    await witness.count(1)
    expect(receiver.received).toHaveLength(1)
  })
})

describe('a receiver that fails', () => {
  test.each<[string, () => Behaviour, { code: string; detail: RegExp; status?: number }]>([
    ['500', () => 500, { code: 'http-5xx', status: 500, detail: /failed \(500\)/ }],
    ['401', () => 401, { code: 'http-4xx', status: 401, detail: /refuses the credentials/ }],
    ['404', () => 404, { code: 'http-4xx', status: 404, detail: /at this address/ }],
    ['410', () => 410, { code: 'http-4xx', status: 410, detail: /permanently gone/ }],
    [
      '429',
      () => answerWith(429, { 'retry-after': '120' }),
      { code: 'http-4xx', status: 429, detail: /limits the request rate/ },
    ],
    ['a redirect', () => redirectTo('http://169.254.169.254/'), { code: 'redirect', detail: /redirect/ }],
    ['closing', () => closeAtOnce, { code: 'unreachable', detail: /closed the connection/ }],
    ['an endless answer', () => streamForever, { code: 'too-large', detail: /more than/ }],
  ])('by %s has that kept in words', async (_name, behaviour, error) => {
    const receiver = await receiverOf(behaviour())
    const id = await connect(receiver, { bearer_token: 'never-told' })
    const connector = await connectorWhen(hub, id, ({ health }) => health.status === 'failing')
    const { detail, ...exact } = error
    expect(connector.health.error).toMatchObject({ ...exact, detail: expect.stringMatching(detail) })
    expect(connector.health.failures).toBeGreaterThan(0)
    expect(connector.health.last_publish_at).toBeUndefined()
    expect(hub.logLines.join('\n')).not.toContain('never-told')
  })

  test('is tried again after pauses that grow, and is healthy again', async () => {
    const receiver = await receiverOf(500)
    const id = await connect(receiver)
    await connectorWhen(hub, id, ({ health }) => health.failures === 1)
    receiver.behaviour = 204
    const connector = await connectorWhen(hub, id, ({ health }) => health.status === 'ok')
    expect(connector.health.error).toBeUndefined()
    const [first, second] = receiver.received
    expect(second!.atMs - first!.atMs).toBeGreaterThan(1800)
  })

  test('and asks to be left alone is, whatever changes', async () => {
    const receiver = await receiverOf(answerWith(429, { 'retry-after': '120' }))
    const id = await connect(receiver)
    await connectorWhen(hub, id, ({ health }) => health.status === 'failing')
    await publishSkill(hub, 'acme', { skill_id: 'while-throttled' })
    const witness = await receiverOf()
    await connect(witness)
    await witness.count(1)
    expect(receiver.received).toHaveLength(1)
    const db = await hub.superuserClient()
    const { rows } = await db.query(
      'select extract(epoch from not_before - now())::int as seconds from hub.connector_deliveries where connector_id = $1',
      [id],
    )
    expect(rows[0].seconds).toBeGreaterThan(100)
  })

  test('by hanging delays no other', async () => {
    const slow = await receiverOf(hang)
    for (let at = 0; at < 12; at += 1) await connect(slow)
    await slow.count(12)
    const quick = await receiverOf()
    await connect(quick)
    await quick.count(1)
    await publishSkill(hub, 'acme', { skill_id: 'beside-the-slow' })
    await quick.count(2)
  })
})

test('an address that is changed in the database gets no credentials', async () => {
  const [own, other] = [await receiverOf(500), await receiverOf()]
  const id = await connect(own, { bearer_token: 'for-its-own-origin' })
  await own.count(1)
  const db = await hub.superuserClient()
  await db.query('update hub.connectors set publish_url = $2 where connector_id = $1', [id, other.url])
  const { health } = await connectorWhen(hub, id, ({ health }) => health.error?.code === 'credentials')
  expect([other.received, health.error.detail]).toEqual([[], expect.stringMatching(/another origin/)])
})

test('no secret gets into the database in clear', async () => {
  const receiver = await receiverOf()
  const id = await connect(receiver, { bearer_token: 'clear-as-glass' })
  const db = await hub.superuserClient()
  const { rows } = await db.query('select c::text as text, credentials_sealed from hub.connectors c')
  const sealed = rows.map((row) => row.credentials_sealed?.toString('latin1') ?? '').join()
  expect(rows.map((row) => row.text).join() + sealed).not.toContain('clear-as-glass')
  expect(id).toMatch(/^con_/)
})

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../provenance/json.ts'
import { recordsPath } from '../api/record-cases.ts'
import { type AuthHub, startAuthHub } from '../auth/auth-hub.ts'
import { messagesSentBy, takeMessages } from './queued-messages.ts'

let lab: AuthHub
const webhooks = '/api/v1/webhooks'
const must = async (tenant: string, method: string, path: string, body?: object) => {
  const answer = await lab.call(tenant, method, path, body ? { body } : {})
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}
beforeAll(async () => {
  lab = await startAuthHub()
  await must('bmode', 'POST', '/api/v1/hub/provision', { cmek: { provider: 'local', key_ref: 'k1' } })
  for (const tenant of ['acme', 'bmode', 'cmode']) {
    await must(tenant, 'POST', webhooks, { url: 'https://siem.example/hub', events: ['governance.*'] })
  }
})
afterAll(() => lab.close())
beforeEach(async () => {
  for (const tenant of ['acme', 'bmode', 'cmode', 'globex']) await takeMessages(lab.hub, tenant)
})

const write = (tenant: string, body: object) =>
  must(tenant, 'POST', recordsPath, { record_type: 'governance_event', ...body })
const recordOf = async (tenant: string, id: unknown) => must(tenant, 'GET', `${recordsPath}/${id}`)
const purge = (id: string, tenant = 'acme') => must(tenant, 'DELETE', `${recordsPath}/${id}?reason=done`)

const decision = {
  ...{ record_type: 'decision', decision_id: 'D-1', decision_subject: 'x', decision_outcome: 'y' },
  ...{ decision_rationale: 'z', decision_actor_role: 'lead' },
}

describe('an event of the service', () => {
  test('is told as it is kept, with what it takes to check it', async () => {
    const { record_id: id } = await must('acme', 'POST', recordsPath, decision)
    const sent = await messagesSentBy(lab.hub, () => purge(id))
    expect(sent).toHaveLength(1)
    const [{ kind, data, recordId, occurredAt, userId }] = sent as [(typeof sent)[0]]
    const record = await recordOf('acme', recordId)
    expect({ kind, userId, data }).toEqual({
      kind: 'governance.hub.record_purged',
      userId: undefined,
      data: {
        record_id: record.record_id,
        event_kind: 'hub.record_purged',
        subject: `record:${id}`,
        details: record.details,
        created_at: record.created_at,
        created_by: 'service:hub',
        provenance_hash: record.provenance_hash,
      },
    })
    expect(occurredAt).toBe(record.created_at)
    expect(record.details).toMatchObject({ reason: 'done', address: '127.0.0.1' })
  })

  test('that follows others is told after them, and all of a tenant that is refused is told too', async () => {
    const rule = { archetypes: [{ archetype_id: 'a' }] }
    const kinds = (await messagesSentBy(lab.hub, () => must('acme', 'PUT', '/api/v1/roster/archetypes', rule))).map(
      ({ data }) => [data.event_kind, (data.details as JsonObject).change],
    )
    expect(kinds).toEqual([['tenant.config_changed', 'archetypes']])
    const refused = async () => {
      expect((await lab.requestToken({ client_id: 'nobody', client_secret: 'x' })).status).toBe(401)
      const { client_id } = await lab.account('acme')
      expect((await lab.requestToken({ client_id, client_secret: 'wrong' })).status).toBe(401)
      await lab.hub.modules.denials.settled()
    }
    const sent = await messagesSentBy(lab.hub, refused)
    expect(sent.map(({ kind }) => kind)).toEqual(['governance.tenant.config_changed', 'governance.auth.login_failed'])
  })

  test('is not told to another tenant, nor where nobody wants its kind', async () => {
    const { record_id: id } = await must('globex', 'POST', recordsPath, decision)
    await purge(id, 'globex')
    expect(await takeMessages(lab.hub, 'globex')).toEqual([])
    const endpoint = { url: 'https://siem.example/hub', events: ['governance.hub.record_restored'] }
    await must('globex', 'POST', webhooks, endpoint)
    expect(await takeMessages(lab.hub, 'globex')).toEqual([])
    await must('globex', 'POST', `${recordsPath}/${id}:restore`)
    await purge(id, 'globex')
    expect((await takeMessages(lab.hub, 'globex')).map(({ kind }) => kind)).toEqual(['governance.hub.record_restored'])
    expect(await takeMessages(lab.hub, 'acme')).toEqual([])
  })

  test('costs one statement where nobody wants it', async () => {
    const { database } = lab.hub.test
    const tenant = await lab.hub.tenant('cmode')
    const events = Array.from({ length: 300 }, (_, at) => ({
      ...{ kind: 'tenant.config_changed' as const, subject: `user:usr_${at}`, actor: { service: 'test' } },
      details: { change: 'user_created' },
    }))
    const { webhook_id } = (await must('cmode', 'GET', webhooks)).items[0]
    await must('cmode', 'PATCH', `${webhooks}/${webhook_id}`, { enabled: false })
    await takeMessages(lab.hub, 'cmode')
    const texts: string[] = []
    await database.withTenant('cmode', async (tx) => {
      const { query } = tx.client
      tx.client.query = ((...args: unknown[]) => {
        const [first] = args as [string | { text: string }]
        texts.push(typeof first === 'string' ? first : first.text)
        return (query as (...all: unknown[]) => unknown).apply(tx.client, args)
      }) as never
      await lab.hub.modules.governance.appendAll(tx, tenant, events)
      tx.client.query = query
    })
    expect(texts.filter((text) => text.includes('hub.webhook'))).toHaveLength(1)
    expect(texts.filter((text) => text.includes('hub.users'))).toEqual([])
    expect(await takeMessages(lab.hub, 'cmode')).toEqual([])
    await must('cmode', 'PATCH', `${webhooks}/${webhook_id}`, { enabled: true })
  })
})

describe('an event of a client', () => {
  test('is told like any other', async () => {
    const body = { event_kind: 'custom.review.done', subject: 'contract:7', details: { outcome: ['fine', 1] } }
    const { record_id, provenance_hash } = await write('acme', body)
    const { created_at, created_by } = await recordOf('acme', record_id)
    expect((await takeMessages(lab.hub)).map(({ kind, data, recordId }) => ({ kind, data, recordId }))).toEqual([
      {
        kind: 'governance.custom.review.done',
        data: { record_id, ...body, created_at, created_by, provenance_hash },
        recordId: record_id,
      },
    ])
    expect(created_by).not.toBe('service:hub')
  })

  test('says nothing of people, whatever it says', async () => {
    await must('acme', 'POST', webhooks, { url: 'https://people.example/hub', events: ['user.*'] })
    const { user_id } = await must('acme', 'POST', '/api/v1/roster/users', { email: 'ann@acme.example' })
    await takeMessages(lab.hub)
    await write('acme', {
      ...{ event_kind: 'custom.user', subject: `user:${user_id}`, details: { change: 'user_deactivated' } },
    })
    expect((await takeMessages(lab.hub)).map(({ kind }) => kind)).toEqual(['governance.custom.user'])
  })

  test('is told once, when it is sent twice with a key', async () => {
    const headers = { 'idempotency-key': 'one' }
    const body = { record_type: 'governance_event', event_kind: 'custom.once' }
    const send = async () => (await lab.call('acme', 'POST', recordsPath, { body, headers })).status
    expect([await send(), await send()]).toEqual([201, 201])
    expect(await takeMessages(lab.hub)).toHaveLength(1)
  })

  test('is told without subject and details in Mode B, and nothing of them lies in clear', async () => {
    const needle = 'needle-4711'
    const { record_id, provenance_hash } = await write('bmode', {
      ...{ event_kind: 'custom.secret', subject: `of ${needle}`, details: { deep: [{ text: needle }] } },
    })
    const superuser = await lab.hub.superuserClient()
    const { rows } = await superuser.query('select messages from hub.webhook_outbox')
    expect(rows).toHaveLength(1)
    expect(rows[0].messages).not.toContain('needle')
    const [message] = await takeMessages(lab.hub, 'bmode')
    expect(message).toMatchObject({ kind: 'governance.custom.secret', recordId: record_id })
    const { created_at, created_by } = await recordOf('bmode', record_id)
    const data = { record_id, event_kind: 'custom.secret', created_at, created_by, provenance_hash }
    expect(message!.data).toEqual(data)
    // What the service writes is under no key of the customer.
    await must('bmode', 'PUT', '/api/v1/roster/archetypes', { archetypes: [{ archetype_id: 'a' }] })
    expect((await takeMessages(lab.hub, 'bmode'))[0]!.data).toMatchObject({ subject: 'tenant:bmode', details: {} })
  })

  test('has no details in Mode C', async () => {
    await write('cmode', { event_kind: 'custom.c', subject: 'thing:1' })
    const [message] = await takeMessages(lab.hub, 'cmode')
    expect(message!.data).toMatchObject({ event_kind: 'custom.c', subject: 'thing:1' })
    expect(message!.data).not.toHaveProperty('details')
  })

  test('that is refused is not told', async () => {
    const body = { record_type: 'governance_event', event_kind: 'custom.x', related_records: [crypto.randomUUID()] }
    expect((await lab.call('acme', 'POST', recordsPath, { body })).status).toBe(400)
    expect(await takeMessages(lab.hub)).toEqual([])
  })
})

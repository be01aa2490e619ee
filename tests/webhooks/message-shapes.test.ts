import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { webhookDataBytesMax } from '../../contract/limits.ts'
import { describedMessages } from '../../contract/webhook-messages.ts'
import { compileSchema } from '../../server/http/request-validation.ts'
import { prepareTelemetry } from '../api/telemetry-tenants.ts'
import { event } from '../telemetry/events.ts'
import type { ReceivedMessage } from './receiver.ts'
import { startWebhookLab, type WebhookLab } from './webhook-lab.ts'

/** What comes to a receiver is as the API description says. Of each kind by itself see {@link asDescribed}. */
let lab: WebhookLab
beforeAll(async () => {
  lab = await startWebhookLab()
  await prepareTelemetry(lab.hub, 'acme')
})
afterAll(() => lab.stop())

const call = async (method: string, path: string, body?: object) =>
  (await lab.must('acme', method, `/api/v1${path}`, body ? { body } : {})).body

interface DescribedPost {
  parameters: { name: string; required: boolean }[]
  requestBody: { content: { 'application/json': { schema: object } } }
}

test('messages of every family have the headers and the body that are described', async () => {
  const document = (await lab.hub.call('acme', 'GET', '/v1/openapi.json', { token: null })).body
  const webhook = await lab.connect({ events: ['user.*', 'skill.*', 'governance.*'], thresholds: { latency_ms: 1 } })
  const { user_id } = await call('POST', '/roster/users', { email: 'shape@acme.example' })
  await call('PUT', `/roster/users/${user_id}/role`, { role: 'analyst' })
  await call('POST', `/roster/users/${user_id}:deactivate`)
  await call('POST', '/telemetry/events', event({ success: false, error_code: 'timeout' }))
  await lab.must('acme', 'POST', `${webhook.path}:test`)
  const wanted = [
    ...['user.provisioned', 'user.updated', 'user.deactivated', 'skill.invocation_failed', 'skill.latency_exceeded'],
    ...['governance.tenant.config_changed', 'webhook.test'],
  ]
  await webhook.deliveriesWhen(
    (rows) =>
      wanted.every((kind) => rows.some((row) => row.kind === kind)) &&
      rows.every(({ status }) => status === 'delivered'),
  )
  for (const { body, headers } of webhook.receiving.received) {
    const kind = body.kind.startsWith('governance.') ? 'governance.*' : body.kind
    const { parameters, requestBody }: DescribedPost = document.webhooks[kind].post
    const schema = requestBody.content['application/json'].schema
    expect(compileSchema(schema as never)(body), JSON.stringify(body)).toEqual([])
    for (const { name, required } of parameters) {
      expect([name, required, typeof headers[name.toLowerCase()]]).toEqual([name, true, 'string'])
    }
  }
})

test('what was left out of a message that is too large may be missing', async () => {
  const webhook = await lab.connect({ events: ['user.archetype_changed'] })
  const archetypes = Array.from({ length: 300 }, (_, at) => ({ archetype_id: `${at}-`.padEnd(120, 'x') }))
  const former = (await call('GET', '/roster/archetypes?limit=1000')).items
  await call('PUT', '/roster/archetypes', { archetypes: [...former, ...archetypes] })
  const { user_id } = await call('POST', '/roster/users', { email: 'many@acme.example' })
  const archetype_ids = archetypes.map(({ archetype_id }) => archetype_id)
  await call('PUT', `/roster/users/${user_id}/archetypes`, { archetype_ids })
  const [{ body }] = (await webhook.receiving.count(1)) as [ReceivedMessage]
  expect(body.data).toMatchObject({ user_id, truncated: true })
  expect(body.data).not.toHaveProperty('archetype_ids')
  expect(Buffer.byteLength(JSON.stringify(body.data))).toBeLessThanOrEqual(webhookDataBytesMax)
  const { data } = describedMessages.find(({ kind }) => kind === body.kind)!
  expect(compileSchema(data)(body.data)).toEqual([])
})

test('the table of docs/webhooks.md has each kind with its members', () => {
  const text = readFileSync(join(import.meta.dirname, '../../docs/webhooks.md'), 'utf8')
  const [, table = ''] = text.split('\n### Message format\n')
  const [, ...rows] = [...table.split('\n### ')[0]!.matchAll(/^\| (`[^|]+) \| ([^|]+) \|/gm)]
  const namesIn = (cell = '') => [...cell.matchAll(/`([a-z0-9_.*]+)`(\?)?/g)]
  const told = new Map(
    rows.flatMap(([, kinds, members]) =>
      namesIn(kinds).map(([, kind]) => [kind, namesIn(members).map(([, name, mark = '']) => `${name}${mark}`)]),
    ),
  )
  const described = new Map(
    describedMessages.map(({ kind, data }) => {
      const required: readonly string[] = (data as { required?: string[] }).required ?? []
      const names = Object.keys(data.properties).filter((name) => name !== 'truncated')
      return [kind, names.map((name) => `${name}${required.includes(name) ? '' : '?'}`)]
    }),
  )
  expect(told).toEqual(described)
})

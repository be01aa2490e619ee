import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { webhookDataBytesMax } from '../../contract/limits.ts'
import type { JsonObject } from '../../provenance/json.ts'
import { truncateData } from '../../server/modules/webhooks/outbox/webhook-outbox.ts'
import { recordsPath } from '../api/record-cases.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { subscribe, takeMessages } from './queued-messages.ts'

const sizeOf = (data: JsonObject) => Buffer.byteLength(JSON.stringify(data))
const filled = (bytes: number, data: JsonObject = {}) => {
  const text = 'x'.repeat(bytes - sizeOf({ ...data, text: '' }))
  return { ...data, text }
}

describe('the data of a message', () => {
  test('of 16 KiB is carried as it is', () => {
    const data = filled(webhookDataBytesMax, { id: 1 })
    expect(truncateData(data)).toEqual({ data, bytes: webhookDataBytesMax })
  })

  test('of more is carried without the largest members', () => {
    const data = filled(webhookDataBytesMax + 1, { id: 1 })
    expect(truncateData(data).data).toEqual({ id: 1, truncated: true })
    const half = 'y'.repeat(9_000)
    const { data: rest } = truncateData({ ...data, half, small: [1], ['__proto__']: 'z' })
    expect(rest).toEqual(JSON.parse(`{"id":1,"half":"${half}","small":[1],"__proto__":"z","truncated":true}`))
  })

  test.each(['\\', '"', '\u0000', 'ü', '😀', '\ud800'])('counts %j as it is written', (character) => {
    for (const length of [2_000, 3_000, 8_000, 17_000]) {
      const { data, bytes } = truncateData({
        id: 1,
        a: character.repeat(length),
        b: { c: character.repeat(length / 2) },
      })
      expect(sizeOf(data)).toBe(bytes)
      expect(bytes).toBeLessThanOrEqual(webhookDataBytesMax)
      expect(data.id).toBe(1)
    }
  })

  test('is never of more, whatever it is', () => {
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`name${at}`, at]))
    for (const data of [many, { [`${'n'.repeat(40_000)}`]: 1 }, { a: many, b: many }]) {
      expect(sizeOf(truncateData(data).data)).toBeLessThanOrEqual(webhookDataBytesMax)
    }
  })
})

describe('a governance event', () => {
  let hub: TestHub
  beforeAll(async () => {
    hub = await startHub()
    await subscribe(hub, 'acme', 'governance.*', 'user.*')
  })
  afterAll(() => hub.stop())

  test('with long details is told without them, so that the record has to be fetched', async () => {
    await takeMessages(hub)
    const details = { text: 'x'.repeat(webhookDataBytesMax) }
    const event = { record_type: 'governance_event', event_kind: 'custom.long', subject: 'policy:retention', details }
    const { record_id } = (await hub.call('acme', 'POST', recordsPath, { body: event })).body
    const record = (await hub.call('acme', 'GET', `${recordsPath}/${record_id}`)).body
    const [message] = await takeMessages(hub)
    expect(message?.data).toEqual({
      ...{ record_id, event_kind: 'custom.long', subject: 'policy:retention', truncated: true },
      ...{ created_at: record.created_at, created_by: record.created_by, provenance_hash: record.provenance_hash },
    })
  })

  test('of the outbox: no row grows beyond what is relayed at once', async () => {
    await takeMessages(hub)
    const { outbox } = hub.modules.webhooks
    const message = { kind: 'user.updated', occurredAt: '2026-11-22T00:00:00.000000Z', data: filled(16_000) }
    await hub.test.database.withTenant('acme', (tx) => outbox.add(tx, Array(100).fill(message)))
    const superuser = await hub.superuserClient()
    const { rows } = await superuser.query('select octet_length(messages) as bytes from hub.webhook_outbox')
    expect(rows).toHaveLength(7)
    expect(Math.max(...rows.map(({ bytes }) => bytes))).toBeLessThan(300_000)
    expect(await takeMessages(hub)).toHaveLength(100)
  })
})

import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  listenForOutbox,
  type QueuedMessage,
  readMessages,
  StoredOutbox,
  writeMessages,
} from '../../server/modules/webhooks/outbox/webhook-outbox.ts'
import type { OutgoingMessage } from '../../server/modules/webhooks/webhooks-types.ts'
import { must, webhooksPath } from '../api/webhook-cases.ts'
import { quiet } from '../auth/auth-lab.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { patience } from '../support/machine-speed.ts'
import { subscribe, takeMessages } from './queued-messages.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.stop())

const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const recordId = '0190d6a5-0000-7000-8000-000000000000'
const message = (data: OutgoingMessage['data'] = {}): OutgoingMessage => ({
  kind: 'user.updated',
  occurredAt: '2026-11-22T00:00:00.000000Z',
  data,
})

describe('the text of a row', () => {
  const whole: QueuedMessage = {
    ...message({ a: [1, 'ü\u2028', null, { b: true }] }),
    ...{ messageId: recordId, recordId, userId: 'user:ann@example.com', webhookIds: ['whk_1', 'whk_2'] },
  }
  const { recordId: _record, userId: _user, webhookIds: _webhooks, ...bare } = whole

  test('is read as it was written', () => {
    expect(readMessages(writeMessages([whole, bare]))).toEqual([whole, bare])
    expect(JSON.parse(writeMessages([bare]))).toEqual({
      v: 1,
      messages: [{ id: recordId, kind: 'user.updated', occurred_at: '2026-11-22T00:00:00.000000Z', data: whole.data }],
    })
  })

  const good = JSON.parse(writeMessages([whole]))
  const first = (change: object) => JSON.stringify({ ...good, messages: [{ ...good.messages[0], ...change }] })
  test.each([
    ['', 'not JSON'],
    ['[]', 'not a JSON object'],
    ['{}', 'version'],
    [JSON.stringify({ ...good, v: 2 }), 'version'],
    [JSON.stringify({ ...good, v: '1' }), 'version'],
    [JSON.stringify({ ...good, more: 1 }), 'other members'],
    [JSON.stringify({ v: 1, messages: {} }), 'other members'],
    [JSON.stringify({ v: 1, messages: [null] }), 'members'],
    [first({ id: 7 }), 'id'],
    [first({ kind: undefined }), 'kind'],
    [first({ occurred_at: null }), 'occurred_at'],
    [first({ data: [] }), 'data'],
    [first({ record_id: 7 }), 'record_id'],
    [first({ user_id: null }), 'user_id'],
    [first({ webhook_ids: ['whk_1', 2] }), 'webhook_ids'],
    [first({ secret: 'x' }), 'members'],
  ])('is refused where it is another: %s', (text, words) => {
    expect(() => readMessages(text)).toThrow(words)
  })

  test('is not repeated by the error', () => {
    expect(() => readMessages('{"kim@example.com": ')).toThrow(/^an outbox row is not JSON$/)
  })
})

describe('a transaction', () => {
  const run = <T>(work: Parameters<TestHub['test']['database']['withTenant']>[1], tenant = 'acme') =>
    hub.test.database.withTenant(tenant, work) as Promise<T>
  const outbox = () => hub.modules.webhooks.outbox
  beforeEach(() => takeMessages(hub))

  test('keeps each message with an id of its own, in order, in rows of a size', async () => {
    const many = Array.from({ length: 1201 }, (_, at) => message({ at }))
    await run((tx) => outbox().add(tx, many))
    const superuser = await hub.superuserClient()
    const { rows } = await superuser.query('select messages from hub.webhook_outbox order by outbox_id')
    expect(rows.map((row) => readMessages(row.messages).length)).toEqual([500, 500, 201])
    const sent = await takeMessages(hub)
    expect(sent.map(({ data }) => data.at)).toEqual(many.map(({ data }) => data.at))
    const ids = sent.map(({ messageId }) => messageId)
    expect(ids.every((id) => uuidV7.test(id))).toBe(true)
    expect(new Set(ids).size).toBe(1201)
    expect([...ids].sort()).toEqual(ids)
  })

  test('that ingests keeps them as well, and can read none', async () => {
    await hub.test.database.ingest('acme', [outbox().step('acme', [message({ a: 1 }), message({ a: 2 })])])
    expect((await takeMessages(hub)).map(({ data }) => data)).toEqual([{ a: 1 }, { a: 2 }])
    const other = outbox().step('globex', [message()])
    await expect(hub.test.database.ingest('acme', [other])).rejects.toMatchObject({ code: '42501' })
  })

  test('that rolls back tells nothing', async () => {
    const fails = run(async (tx) => {
      await outbox().add(tx, [message()])
      throw new Error('rolled back')
    })
    await expect(fails).rejects.toThrow('rolled back')
    expect(await takeMessages(hub)).toEqual([])
  })

  test('without messages does nothing', async () => {
    await run((tx) => outbox().add(tx, []))
    expect(await takeMessages(hub)).toEqual([])
  })

  test('knows what the endpoints that are enabled want', async () => {
    const wants = async (kind: string, tenant?: string) =>
      (await run<(kind: string) => boolean>(outbox().wanted, tenant))(kind)
    expect(await wants('user.updated')).toBe(false)
    const one = await subscribe(hub, 'acme', 'user.updated', 'governance.hub.*')
    const two = await subscribe(hub, 'acme', 'user.*')
    expect(await wants('user.updated')).toBe(true)
    expect(await wants('user.deactivated')).toBe(true)
    expect(await wants('governance.hub.exported')).toBe(true)
    expect(await wants('governance.tenant.live')).toBe(false)
    expect(await wants('user.updated', 'globex')).toBe(false)
    await must(hub, 'acme', 'PATCH', `${webhooksPath}/${two.webhook_id}`, { body: { enabled: false } })
    expect(await wants('user.deactivated')).toBe(false)
    await must(hub, 'acme', 'DELETE', `${webhooksPath}/${one.webhook_id}`)
    expect(await wants('user.updated')).toBe(false)
  })
})

describe('word of it', () => {
  test('reaches the worker of this process after the commit, and others once for many', async () => {
    const { database } = hub.test
    const heard: string[] = []
    const listening = Promise.withResolvers<void>()
    const done = Promise.withResolvers<void>()
    const listener = database.listen('hub_webhooks', (payload) => {
      if (payload === undefined) return listening.resolve()
      // The service of the other tests tells of tenants too.
      if (payload.includes('initech')) heard.push(payload)
      if (payload.includes('hooli')) done.resolve()
    })
    await listening.promise
    const wake = vi.fn()
    const outbox = new StoredOutbox({ database, clock: hub.modules.recordStore.clock, wake, log: quiet })
    await database.withTenant('acme', async (tx) => {
      await outbox.add(tx, [message()])
      expect(wake).not.toHaveBeenCalled()
    })
    expect(wake.mock.calls).toEqual([['acme']])
    for (let at = 0; at < 500; at++) outbox.queued('initech')
    outbox.queued('hooli')
    await done.promise
    expect(heard).toEqual(['initech hooli'])
    await outbox.settled()
    listener.close()
  })

  test('names the tenants to whoever hears', () => {
    const heard: string[] = []
    const listen: TestHub['test']['database']['listen'] = (_channel, wake) => {
      for (const payload of [undefined, '', 'acme', 'acme globex']) wake(payload)
      return { close() {} }
    }
    listenForOutbox({ listen }, (tenant) => heard.push(tenant))
    expect(heard).toEqual(['acme', 'acme', 'globex'])
  })

  test('of an erasure reaches every process, this one at once', async () => {
    const [here, heard] = [vi.fn(), vi.fn()]
    const { database } = hub.test
    const listener = listenForOutbox(database, heard)
    const notifier = new StoredOutbox({ database, clock: hub.modules.recordStore.clock, wake: here, log: quiet })
    notifier.erased('acme')
    expect(here).toHaveBeenCalledExactlyOnceWith('acme', 'erased')
    // What is told before it listens is lost.
    await vi.waitFor(() => {
      notifier.erased('acme')
      expect(heard).toHaveBeenCalledWith('acme', 'erased')
    })
    await notifier.settled()
    await listener.close()
  })

  test('that is lost is a warning, and the next goes out', async () => {
    const warn = vi.fn()
    const withRegistry = vi.fn().mockRejectedValueOnce(new Error('away')).mockResolvedValue(undefined)
    const { clock } = hub.modules.recordStore
    const notifier = new StoredOutbox({ database: { withRegistry }, clock, wake() {}, log: { warn } })
    notifier.queued('acme')
    await vi.waitFor(() => expect(warn).toHaveBeenCalledTimes(1), patience)
    notifier.queued('acme')
    await notifier.settled()
    expect(withRegistry).toHaveBeenCalledTimes(2)
    await delay(0)
    expect(warn).toHaveBeenCalledTimes(1)
  })
})

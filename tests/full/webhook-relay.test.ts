import { afterAll, beforeAll, expect, test } from 'vitest'
import { type QueuedMessage, writeMessages } from '../../server/modules/webhooks/outbox/webhook-outbox.ts'
import type { OutgoingMessage } from '../../server/modules/webhooks/webhooks-types.ts'
import { Relay } from '../../server/modules/webhooks/worker/relay.ts'
import { busiestTurn } from '../support/busiest-turn.ts'
import { scaled } from '../support/machine-speed.ts'
import { messageOf, startWebhookLab, type WebhookLab } from '../webhooks/webhook-lab.ts'

let lab: WebhookLab
beforeAll(async () => {
  lab = await startWebhookLab({ start: false })
})
afterAll(() => lab.stop())

const nextId = () => lab.hub.modules.recordStore.clock.next().recordId
/** With an id, as a row has it. */
const queued = (message: OutgoingMessage): QueuedMessage => ({ ...message, messageId: nextId() })

/** Keeps a row by itself, as a process of another version may. */
async function leave(messages: string): Promise<void> {
  const insert = "insert into hub.webhook_outbox (tenant_id, outbox_id, messages) values ('acme', $1, $2)"
  await lab.superuser.query(insert, [nextId(), messages])
}

test('large messages to many endpoints: a part of a row at a time, and the process goes on with its other work', async () => {
  const webhooks = await Promise.all(Array.from({ length: 50 }, () => lab.connect({ events: ['user.provisioned'] })))
  // Characters that are escaped once more with each layer of JSON.
  const text = '\\'.repeat(8_000)
  const messages = Array.from({ length: 60 }, (_, at) => ({
    ...messageOf(),
    kind: 'user.provisioned',
    data: { text, at },
    webhookIds: webhooks.map(({ webhookId }) => webhookId),
  }))
  await leave(writeMessages(messages.map(queued)))
  // And as from before there was a limit: more than fits a transaction by itself.
  await leave(writeMessages([queued({ ...messages[0]!, data: { text: '\\'.repeat(500_000) } })]))
  const relay = new Relay({
    ...{ database: lab.hub.test.database, clock: lab.hub.modules.recordStore.clock },
    ...{ endpoints: lab.hub.modules.webhooks.endpoints, log: { error: () => {} } },
  })
  const counts = []
  let turnMs = 0
  for (let isMore = true; isMore; ) {
    const work = async () => {
      isMore = (await relay.run('acme')).isMore
    }
    turnMs = Math.max(turnMs, await busiestTurn(work))
    const { rows } = await lab.superuser.query(
      `select count(*)::int as count from hub.webhook_deliveries where kind = 'user.provisioned'`,
    )
    counts.push(rows[0].count)
  }
  expect(counts.slice(0, 2)).toEqual([20 * 50, 40 * 50])
  expect(counts.at(-1)).toBe(61 * 50)
  expect(turnMs).toBeLessThan(scaled(200))
  for (const { deliveries } of webhooks.slice(0, 2)) {
    const rows = await deliveries()
    expect(rows.map(({ sequence }) => sequence)).toEqual(rows.map((_, at) => at + 1))
    expect(rows).toHaveLength(61)
  }
  const { rows } = await lab.superuser.query(
    `select data from hub.webhook_deliveries where kind = 'user.provisioned' and webhook_id = $1 order by sequence`,
    [webhooks[0]!.webhookId],
  )
  expect(rows.slice(0, 60).map(({ data }) => JSON.parse(data))).toEqual(messages.map(({ data }) => data))
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  connectorsPath,
  eventsOf,
  must,
  pushBody,
  republishPath,
  startConnectorHub,
} from '../connectors/connector-lab.ts'
import type { TestHub } from '../support/hub.ts'
import { hang, type PublishReceiver, startPublishReceiver } from '../support/publish-receiver.ts'
import { accessCases, pointersOf } from './connector-cases.ts'

let hub: TestHub
const receivers: PublishReceiver[] = []
beforeAll(async () => {
  hub = await startConnectorHub()
  hub.modules.distribution.publisher.start()
})
afterAll(async () => {
  await hub.stop()
  await Promise.all(receivers.map((receiver) => receiver.stop()))
})

async function connect(display_name: string) {
  const receiver = await startPublishReceiver()
  receivers.push(receiver)
  const { body } = await must(hub, 'acme', 'POST', connectorsPath, { body: pushBody(receiver.url, { display_name }) })
  await receiver.count(1)
  return { receiver, id: body.connector_id as string }
}
const jobOf = async (address: unknown) => (await must(hub, 'acme', 'GET', String(address))).body
const order = () => must(hub, 'acme', 'POST', republishPath)

test('without connectors has nothing to do', async () => {
  const answer = await order()
  expect([answer.status, answer.body]).toMatchObject([202, { status: 'completed', progress: { done: 0, total: 0 } }])
})

test('publishes to every connector anew, with progress, results and one event', async () => {
  const good = await connect('good')
  const bad = await connect('bad')
  const slow = await connect('slow')
  const pulls = { platform: 'slack', display_name: 'pulls', delivery: 'pull' }
  const pull = (await must(hub, 'acme', 'POST', connectorsPath, { body: pulls })).body.connector_id
  bad.receiver.behaviour = 500
  let release = () => {}
  slow.receiver.behaviour = (response) => {
    release = () => response.writeHead(200).end()
  }
  const answer = await order()
  const { job_id } = answer.body
  expect([answer.status, answer.headers.location]).toEqual([
    202,
    `/api/v1/skill-entitlement/distribution/republishes/${job_id}`,
  ])
  const progress = async () => (await jobOf(answer.headers.location)).progress
  await expect.poll(progress).toEqual({ done: 2, total: 3 })
  expect((await jobOf(answer.headers.location)).status).toBe('running')

  const again = await order()
  expect([again.status, again.body.job_id]).toEqual([202, job_id])
  release()
  slow.receiver.behaviour = 200
  await expect.poll(async () => (await jobOf(answer.headers.location)).status).toBe('completed')
  const job = await jobOf(answer.headers.location)
  const resultOf = (id: string) => job.results.find((each: { connector_id: string }) => each.connector_id === id)
  expect(job).toMatchObject({ progress: { done: 3, total: 3 }, finished_at: expect.any(String) })
  expect(resultOf(good.id)).toMatchObject({ status: 'published' })
  expect(resultOf(slow.id)).toMatchObject({ status: 'published' })
  expect(resultOf(bad.id)).toMatchObject({ status: 'failed', error: { code: 'http-5xx', status: 500 } })
  expect(resultOf(pull)).toEqual({ connector_id: pull, status: 'pulls' })
  expect(good.receiver.received).toHaveLength(2)
  const events = (await eventsOf(hub, 'acme', 'skill.entitlement_changed')).filter(
    ({ subject }: { subject: string }) => subject === `republish:${job_id}`,
  )
  expect(events).toHaveLength(1)
  expect(await jobOf(republishPath)).toEqual(job)
  for (const { id } of [good, bad, slow]) await must(hub, 'acme', 'DELETE', `${connectorsPath}/${id}`)
})

test('ends where its last connector is removed, and fails where none takes the skills', async () => {
  const { receiver, id } = await connect('hangs')
  receiver.behaviour = hang
  const { headers } = await order()
  await receiver.count(2)
  await must(hub, 'acme', 'DELETE', `${connectorsPath}/${id}`)
  expect(await jobOf(headers.location)).toMatchObject({
    status: 'completed',
    results: expect.arrayContaining([expect.objectContaining({ connector_id: id, status: 'removed' })]),
  })
  const refusing = await connect('refuses')
  refusing.receiver.behaviour = 403
  const second = await order()
  await expect.poll(async () => (await jobOf(second.headers.location)).status).toBe('failed')
  expect((await jobOf(second.headers.location)).error.detail).toMatch(/No connector accepted the skills/)
})

test('a body with members is 400', async () => {
  const answer = await hub.call('acme', 'POST', republishPath, { body: { all: true } })
  expect([answer.status, pointersOf(answer)]).toEqual([400, ['/all']])
})

accessCases({
  hub: () => hub,
  right: () => ({ method: 'POST', path: republishPath }),
  wrongScopes: ['skill_entitlement:read'],
})

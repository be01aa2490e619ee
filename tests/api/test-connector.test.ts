import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectorsPath, manifestPath, must, pushBody, startConnectorHub } from '../connectors/connector-lab.ts'
import { startAnthropicSkillsApi } from '../support/anthropic-skills-api.ts'
import type { TestHub } from '../support/hub.ts'
import { type PublishReceiver, redirectTo, startPublishReceiver } from '../support/publish-receiver.ts'
import { accessCases, slugOf } from './connector-cases.ts'

let hub: TestHub
let receiver: PublishReceiver
let id: string
beforeAll(async () => {
  hub = await startConnectorHub()
  receiver = await startPublishReceiver()
  id = await connect(pushBody(receiver.url))
})
afterAll(async () => {
  await hub.stop()
  await receiver.stop()
})

async function connect(body: object): Promise<string> {
  return (await must(hub, 'acme', 'POST', connectorsPath, { body })).body.connector_id
}
const tryIt = async (connector: string) => {
  const answer = await hub.call('acme', 'POST', `${connectorsPath}/${connector}:test`)
  expect(answer.status).toBe(200)
  return answer.body as { ok: boolean; steps: { name: string; ok: boolean; detail: string }[] }
}

test('sends the manifest, and leaves the health as it is', async () => {
  const tried = await tryIt(id)
  expect([tried.ok, tried.steps.map(({ name, ok }) => [name, ok])]).toEqual([
    true,
    [
      ['configuration', true],
      ['address', true],
      ['publish', true],
    ],
  ])
  expect(receiver.received.at(-1)!.body).toMatchObject({ connector_id: id, tenant: 'acme' })
  const { health } = (await hub.call('acme', 'GET', `${connectorsPath}/${id}`)).body
  expect(health).toEqual({ status: 'waiting', failures: 0 })
})

test('explains in words what fails', async () => {
  for (const [behaviour, words] of [
    [401, /refuses the credentials \(401\)/],
    [503, /failed \(503\)/],
    [redirectTo('http://10.0.0.1/'), /redirect \(302\), which the Hub does not follow/],
  ] as const) {
    receiver.behaviour = behaviour
    const tried = await tryIt(id)
    expect([tried.ok, tried.steps.at(-1)!.name]).toEqual([false, 'publish'])
    expect(tried.steps.at(-1)!.detail).toMatch(words)
  }
})

test('an address that does not resolve fails at its own step', async () => {
  const tried = await tryIt(await connect(pushBody('https://no-such-host.invalid/', { display_name: 'Nowhere' })))
  expect(tried.steps.slice(1)).toEqual([
    { name: 'address', ok: false, detail: expect.stringMatching(/resolve/) },
    { name: 'publish', ok: false, detail: 'Not tried, because address failed.' },
  ])
})

test('a credential of a name that is not sent is told, with those that are', async () => {
  const credentials = { token: 'a-guess' }
  const tried = await tryIt(await connect(pushBody(receiver.url, { display_name: 'Guessed', credentials })))
  expect(tried.steps[0]!.detail).toMatch(/token are not sent; supported: bearer_token, api_key, signing_secret/)
  expect(JSON.stringify(tried)).not.toContain('a-guess')
})

test('one that pulls is told whether it does', async () => {
  const pulls = await connect({ platform: 'gemini', display_name: 'Pulls', delivery: 'pull' })
  expect((await tryIt(pulls)).steps.at(-1)).toMatchObject({ name: 'fetch', ok: false })
  await must(hub, 'acme', 'GET', `${manifestPath}?connector_id=${pulls}`)
  expect(await tryIt(pulls)).toMatchObject({ ok: true })
})

test('one of the Skills API is asked for its skills', async () => {
  const api = await startAnthropicSkillsApi()
  const credentials = { anthropic_api_key: 'a wrong one' }
  const body = { platform: 'claude', display_name: 'API', delivery: 'push', publish_url: api.url, credentials }
  const connector = await connect(body)
  expect((await tryIt(connector)).steps.at(-1)).toMatchObject({ name: 'credentials', ok: false })
  await connect({ ...body, credentials: { anthropic_api_key: api.apiKey } })
  expect(await tryIt(connector)).toMatchObject({ ok: true })
  await api.stop()
})

test('one that nobody has is 404, and a body with members 400', async () => {
  const answer = await hub.call('acme', 'POST', `${connectorsPath}/con_none:test`)
  expect([answer.status, slugOf(answer)]).toEqual([404, 'not-found'])
  expect((await hub.call('acme', 'POST', `${connectorsPath}/${id}:test`, { body: { a: 1 } })).status).toBe(400)
})

accessCases({
  hub: () => hub,
  right: () => ({ method: 'POST', path: `${connectorsPath}/${id}:test` }),
  wrongScopes: ['hub:write'],
  otherTenant: 404,
})

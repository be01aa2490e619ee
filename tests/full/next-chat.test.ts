import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { json } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { scopeNames } from '../../contract/scopes.ts'
import { eventsOf } from '../otlp/otlp-lab.ts'
import { runNode } from '../sdk/run-node.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { packSdk } from './sdk/packed-sdk.ts'

/** Installs the example from the registry, as its users do, and chats with it. */

const examples = resolve(import.meta.dirname, '../../examples')

let hub: TestHub
let model: Server
let folder: string
let chat: ChildProcess
let address: string
/** Requests that reached the model. */
const asked: unknown[] = []

beforeAll(async () => {
  hub = await startHub()
  const { body } = await hub.call('acme', 'POST', '/api/v1/service-accounts', {
    body: { name: 'chat', scopes: scopeNames },
  })
  const settings = {
    ...{ HUB_URL: hub.baseUrl, HUB_TENANT: 'acme' },
    ...{ HUB_CLIENT_ID: body.client_id, HUB_CLIENT_SECRET: body.client_secret },
  }
  const onboarding = join(examples, 'onboarding')
  await runNode([join(onboarding, 'apply.ts'), join(onboarding, 'tenant.json'), '--apply'], settings)
  model = await startModel()
  ;({ folder } = await packSdk())
  await cp(join(examples, 'next-chat'), folder, { recursive: true })
  await promisify(execFile)('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder })
  await startChat({
    ...settings,
    ...{ MODEL_BASE_URL: addressOf(model), MODEL_API_KEY: 'key of the model', NEXT_TELEMETRY_DISABLED: '1' },
  })
})
afterAll(async () => {
  if (chat && chat.exitCode === null && chat.kill()) await once(chat, 'exit')
  model?.close()
  await hub?.stop()
  if (folder) await rm(folder, { recursive: true, force: true })
})

const addressOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

/** Starts a model with the interface of OpenAI. It is busy for conversations that end with "Fail". */
async function startModel(): Promise<Server> {
  const server = createServer(async (request, response) => {
    const body = (await json(request)) as { messages: { content: string }[] }
    asked.push({ url: request.url, key: request.headers.authorization, messages: body.messages })
    response.setHeader('content-type', 'application/json')
    if (body.messages.at(-1)?.content === 'Fail') return response.writeHead(429).end('{}')
    const choices = [{ message: { role: 'assistant', content: 'At the end of March.' } }]
    response.end(JSON.stringify({ model: 'model-1', choices, usage: { prompt_tokens: 11, completion_tokens: 6 } }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return server
}

/** Starts the development server: it compiles only what is requested, for a third of the processor time of a build. */
async function startChat(env: Record<string, string>): Promise<void> {
  const next = join(folder, 'node_modules/next/dist/bin/next')
  chat = spawn(process.execPath, [next, 'dev', '--hostname', '127.0.0.1', '--port', '0'], {
    ...{ cwd: folder, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] },
  })
  let output = ''
  for await (const chunk of chat.stdout!.iterator({ destroyOnReturn: false })) {
    output += chunk
    const local = /Local:\s+(http:\/\/\S+)/.exec(output)?.[1]
    if (local) {
      address = local
      chat.stdout!.resume()
      return
    }
  }
  throw new Error(`The chat did not start: ${output}`)
}

async function post(body: object): Promise<[status: number, answer: unknown]> {
  const response = await fetch(`${address}/api/chat`, { method: 'POST', body: JSON.stringify(body) })
  return [response.status, await response.json()]
}

test('the page shows the chat', async () => {
  const response = await fetch(address)
  expect(response.status).toBe(200)
  expect(await response.text()).toContain('<h1>Chat</h1>')
})

test('an answer becomes an event of the session', async () => {
  const messages = [{ role: 'user', content: 'When does my contract end?' }]
  expect(await post({ session_id: 'chat-1', messages })).toEqual([200, { reply: 'At the end of March.' }])
  expect(asked.at(-1)).toEqual({ url: '/chat/completions', key: 'Bearer key of the model', messages })
  const events = () => eventsOf(hub, 'acme', '&session_id=chat-1')
  await expect.poll(events).toMatchObject([
    {
      ...{ skill_id: 'reply-draft', archetype_id: 'support-agent', user_id: 'user:kim@example.com' },
      ...{ success: true, llm_platform: 'chatgpt', llm_model: 'model-1', tokens_in: 11, tokens_out: 6 },
    },
  ])
  expect(JSON.stringify(await events())).not.toContain('contract')
})

test('a failure of the model becomes an event with its code', async () => {
  const messages = [{ role: 'user', content: 'Fail' }]
  const [status, answer] = await post({ session_id: 'chat-2', messages })
  expect([status, answer]).toEqual([502, { error: 'The model answered with status 429.' }])
  const events = () => eventsOf(hub, 'acme', '&session_id=chat-2')
  await expect.poll(events).toMatchObject([{ success: false, error_code: 'model_429', tokens_in: 0, tokens_out: 0 }])
})

test.each([
  ['no session', { messages: [{ role: 'user', content: 'x' }] }],
  ['no messages', { session_id: 'chat-3', messages: [] }],
  ['an unknown role', { session_id: 'chat-3', messages: [{ role: 'system', content: 'x' }] }],
])('a request with %s does not reach the model', async (_, body) => {
  const before = asked.length
  expect(await post(body)).toEqual([400, { error: 'Send a session_id and messages.' }])
  expect(asked).toHaveLength(before)
})

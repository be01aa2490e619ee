import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { prepareTelemetry } from '../api/telemetry-tenants.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { eventsOf, setMapping } from './otlp-lab.ts'

const run = promisify(execFile)

let hub: TestHub
let environment: Record<string, string>
beforeAll(async () => {
  hub = await startHub()
  await prepareTelemetry(hub, 'acme')
  const { body: account } = await hub.call('acme', 'POST', '/api/v1/service-accounts', {
    body: { name: 'AI SDK', scopes: ['telemetry:write'] },
  })
  environment = {
    ...{ HUB_ORIGIN: hub.baseUrl, HUB_CLIENT_ID: account.client_id, HUB_CLIENT_SECRET: account.client_secret },
    PATH: process.env.PATH ?? '',
  }
})
afterAll(() => hub.stop())

/** An agent whose model calls a tool and then answers, by the SDK with its own test model. */
const agent = (sessionId: string, fails: boolean) => `
  import { shutdown } from './examples/vercel-ai-sdk/hub-telemetry.mjs'
  import { generateText, jsonSchema, stepCountIs, tool } from 'ai'
  import { MockLanguageModelV4 } from 'ai/test'
  const usage = (total, cacheRead, text, reasoning) => ({
    inputTokens: { total, noCache: total - cacheRead, cacheRead, cacheWrite: 0 },
    outputTokens: { total: text + reasoning, text, reasoning },
  })
  const answers = [
    {
      content: [{ type: 'tool-call', toolCallId: 'call-1', toolName: 'lookup', input: '{"id":"secret"}' }],
      finishReason: { unified: 'tool-calls', raw: 'tool_use' }, usage: usage(1000, 0, 20, 0), warnings: [],
    },
    {
      content: [{ type: 'text', text: 'secret answer' }],
      finishReason: { unified: 'stop', raw: 'end_turn' }, usage: usage(1500, 900, 30, 10), warnings: [],
    },
  ]
  const model = new MockLanguageModelV4({
    provider: 'anthropic.messages',
    modelId: 'claude-sonnet-4-5',
    doGenerate: async () => {
      if (${fails}) throw new Error('secret overload')
      return answers.shift()
    },
  })
  const lookup = tool({
    description: 'Looks up a ticket',
    inputSchema: jsonSchema({ type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }),
    execute: async () => ({ text: 'secret result' }),
  })
  const context = { userId: 'kim@example.com', sessionId: '${sessionId}', skill: 'sum-up' }
  await generateText({
    model, prompt: 'secret question', maxRetries: 0, tools: { lookup }, stopWhen: stepCountIs(3), runtimeContext: context,
    telemetry: {
      functionId: 'support-bot', recordInputs: true,
      includeRuntimeContext: { userId: true, sessionId: true, skill: true },
    },
  }).catch((error) => { if (!${fails}) throw error })
  await shutdown()`

async function eventsOfRun(sessionId: string, { fails = false, ignored = ['invoke_agent'] } = {}) {
  await setMapping(hub, 'acme', { default_archetype_id: 'analyst', ignore_operations: ignored })
  await run(process.execPath, ['--input-type=module', '-e', agent(sessionId, fails)], { env: environment })
  const events = await eventsOf(hub, 'acme', `&session_id=${sessionId}`)
  expect(JSON.stringify(events)).not.toContain('secret')
  return events
}

const sumOf = (events: Record<string, unknown>[], member: string) =>
  events.reduce((sum, event) => sum + Number(event[member]), 0)

test('the example sends each call and tool once, with person, session and skill, and no content', async () => {
  const events = await eventsOfRun('run-1')
  const person = { user_id: 'user:kim@example.com', archetype_id: 'analyst', skill_id: 'sum-up', success: true }
  const model = { llm_platform: 'claude', llm_model: 'claude-sonnet-4-5' }
  expect(events).toHaveLength(3)
  expect(events).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ ...person, ...model, tokens_in: 1000, tokens_out: 20 }),
      expect.objectContaining({ ...person, ...model, tokens_in: 1500, tokens_out: 40 }),
      expect.objectContaining({ ...person, tokens_in: 0, tokens_out: 0 }),
    ]),
  )
  const operations = events.map(({ metadata }) => (metadata as Record<string, unknown>).operation)
  expect(operations.sort()).toEqual(['chat', 'chat', 'execute_tool'])
  expect(events.find(({ tokens_in }) => tokens_in === 1500)).toMatchObject({ metadata: { tokens_cache_read: 900 } })
  expect(new Set(events.map(({ trace_id }) => trace_id)).size).toBe(1)
})

test('without the ignored operation, the agent counts its calls again', async () => {
  const events = await eventsOfRun('run-2', { ignored: [] })
  expect(events).toHaveLength(4)
  expect(sumOf(events, 'tokens_in')).toBe(2 * 2500)
})

test('a call that fails', async () => {
  const events = await eventsOfRun('run-3', { fails: true })
  expect(events).toMatchObject([{ success: false, llm_model: 'claude-sonnet-4-5', user_id: 'user:kim@example.com' }])
})

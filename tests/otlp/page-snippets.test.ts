import { readFileSync } from 'node:fs'
import { parse as parseToml } from 'smol-toml'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../provenance/index.ts'
import { prepareTelemetry, registerSkill } from '../api/telemetry-tenants.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { runnersOf, snippetsOf } from '../support/page-snippets.ts'
import { exportedBy, pairsOf, runModule, sendSpan } from './exporter-process.ts'
import { type Attributes, chat, span, toProtobuf, traces } from './otlp-bodies.ts'
import { eventsOf, send, setMapping } from './otlp-lab.ts'

const page = 'docs/opentelemetry.md'
const mapping = { default_skill_id: 'unnamed', default_archetype_id: 'support-agent' }

let hub: TestHub
let account: { client_id: string; client_secret: string }
beforeAll(async () => {
  hub = await startHub()
  await prepareTelemetry(hub, 'acme')
  for (const skill of ['unnamed', 'reply-draft']) await registerSkill(hub, 'acme', skill)
  await hub.call('acme', 'PUT', '/api/v1/roster/archetypes', {
    body: { archetypes: [{ archetype_id: 'analyst' }, { archetype_id: 'support-agent' }] },
  })
  const created = await hub.call('acme', 'POST', '/api/v1/service-accounts', {
    body: { name: 'page', scopes: ['telemetry:write'] },
  })
  account = created.body
  await setMapping(hub, 'acme', mapping)
})
afterAll(() => hub.stop())

const basic = () => btoa(`${account.client_id}:${account.client_secret}`)
/** Runs a shell snippet, with the variables that the page names beside it. */
const exported = (code: string) => exportedBy(code, { HUB: hub.baseUrl, BASIC: basic() })
const without = (attributes: Attributes, ...names: string[]): Attributes =>
  Object.fromEntries(Object.entries(attributes).filter(([name]) => !names.includes(name)))
const payloadOf = (program: string): JsonObject =>
  JSON.parse(readFileSync(new URL(`payloads/${program}.json`, import.meta.url), 'utf8'))

/** Sends a request as the program would with these settings, and expects that all of it is taken. */
async function replay(url: string, headers: Record<string, string>, request: JsonObject): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-protobuf', ...headers },
    body: new Uint8Array(toProtobuf(request)),
  })
  expect([response.status, await response.text()]).toEqual([200, ''])
}

/** Gemini CLI's variables of telemetry, as its documentation lists them. */
const geminiVariables = [
  'ENABLED',
  'TARGET',
  'OTLP_ENDPOINT',
  'OTLP_PROTOCOL',
  'LOG_PROMPTS',
  'OUTFILE',
  'USE_COLLECTOR',
]

test.each(
  runnersOf(page, {
    'Set up an exporter: sh': async (code: string) => {
      const attributes = { ...without(chat, 'user.id', 'archetype.id'), 'session.id': 'by-variables' }
      await sendSpan(await exported(code), attributes)
      expect(await eventsOf(hub, 'acme', '&session_id=by-variables')).toMatchObject([
        { user_id: 'user:kim@example.com', archetype_id: 'support-agent', created_by: account.client_id },
      ])
    },
    'Set up an exporter: ts': async (code: string) => {
      const attributes = { ...chat, 'session.id': 'by-code' }
      await runModule(
        `import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
         import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
         const { HUB, clientId, clientSecret } = process.env
         ${code}
         provider.getTracer('test').startSpan('chat', { attributes: ${JSON.stringify(attributes)} }).end()
         await provider.shutdown()`,
        { HUB: hub.baseUrl, clientId: account.client_id, clientSecret: account.client_secret },
      )
      expect(await eventsOf(hub, 'acme', '&session_id=by-code')).toMatchObject([{ created_by: account.client_id }])
    },
    "The tenant's part: json": async (code: string) => {
      await setMapping(hub, 'acme', JSON.parse(code))
      const attributes = { ...without(chat, 'skill.name', 'archetype.id'), 'session.id': 'by-rule' }
      const agent = { ...attributes, 'gen_ai.operation.name': 'invoke_agent' }
      const request = traces([span(1, attributes), span(2, agent)], { 'service.name': 'support-bot' })
      expect((await send(hub, request)).body).toEqual({})
      expect(await eventsOf(hub, 'acme', '&session_id=by-rule')).toMatchObject([
        { skill_id: 'reply-draft', archetype_id: 'support-agent' },
      ])
      await setMapping(hub, 'acme', mapping)
    },
    'Responses: text': async (code: string) => {
      const unknown = span(3, { ...chat, 'skill.name': 'unknown' }, { spanId: '00f067aa0ba902b7' })
      const answer = await send(hub, traces([unknown]), { encoding: 'application/json' })
      expect(answer.body).toEqual(JSON.parse(code))
    },
    'Gemini CLI: sh': async (code: string) => {
      const variables = await exported(code)
      const own = Object.keys(variables).filter((name) => name.startsWith('GEMINI_'))
      expect(own.filter((name) => !geminiVariables.includes(name.replace('GEMINI_TELEMETRY_', '')))).toEqual([])
      expect(variables).toMatchObject({ GEMINI_TELEMETRY_ENABLED: 'true', GEMINI_TELEMETRY_OTLP_PROTOCOL: 'http' })
      const [exporter] = snippetsOf(page)
      const headers = pairsOf((await exported(exporter?.code ?? '')).OTEL_EXPORTER_OTLP_HEADERS)
      await replay(`${variables.GEMINI_TELEMETRY_OTLP_ENDPOINT}/v1/logs`, headers, payloadOf('gemini-cli'))
      const events = await eventsOf(hub, 'acme', '&llm_platform=gemini')
      expect(events).toMatchObject([{ skill_id: 'unnamed', success: true }, { success: false }])
    },
    'Codex CLI: toml': async (code: string) => {
      const { otel } = parseToml(code) as Record<string, Record<string, unknown>>
      const exporters = otel?.exporter as Record<string, { endpoint: string; headers: Record<string, string> }>
      // Codex rejects unknown members of this table.
      expect(Object.keys(otel ?? {})).toEqual(['log_user_prompt', 'exporter'])
      expect(exporters).toEqual({
        'otlp-http': { endpoint: expect.any(String), protocol: 'binary', headers: expect.any(Object) },
      })
      const { endpoint, headers } = exporters['otlp-http']!
      const filled = Object.entries(headers).map(([name, value]) => [name, value.replace(/<base64 of .*>/, basic())])
      await replay(
        endpoint.replace('https://hub.example.com', hub.baseUrl),
        Object.fromEntries(filled),
        payloadOf('codex-cli'),
      )
      expect(await eventsOf(hub, 'acme', '&llm_model=gpt-5-codex')).toHaveLength(3)
    },
    'LiteLLM: sh': async (code: string) => {
      const variables = await exported(code)
      const { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS, OTEL_RESOURCE_ATTRIBUTES } = variables
      expect(variables).toMatchObject({ LITELLM_OTEL_V2: 'true', OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' })
      const request = payloadOf('litellm') as { resourceSpans: { resource: { attributes: object[] } }[] }
      for (const [key, value] of Object.entries(pairsOf(OTEL_RESOURCE_ATTRIBUTES)))
        request.resourceSpans[0]?.resource.attributes.push({ key, value: { stringValue: value } })
      const headers = pairsOf(OTEL_EXPORTER_OTLP_HEADERS)
      await replay(`${OTEL_EXPORTER_OTLP_ENDPOINT}/v1/traces`, headers, request as unknown as JsonObject)
      expect(await eventsOf(hub, 'acme', '&session_id=session-7')).toMatchObject([
        { skill_id: 'unnamed', archetype_id: 'support-agent', success: true },
        { skill_id: 'unnamed', archetype_id: 'support-agent', success: false },
      ])
    },
    'Vercel AI SDK: ts': async (code: string) => {
      await runModule(
        `import { shutdown } from './examples/vercel-ai-sdk/hub-telemetry.mjs'
         import { generateText } from 'ai'
         import { MockLanguageModelV4 } from 'ai/test'
         const usage = {
           inputTokens: { total: 1000, noCache: 1000, cacheRead: 0, cacheWrite: 0 },
           outputTokens: { total: 20, text: 20, reasoning: 0 },
         }
         const doGenerate = async () => ({
           content: [{ type: 'text', text: 'Hello' }], finishReason: { unified: 'stop' }, usage, warnings: [],
         })
         const model = new MockLanguageModelV4({ provider: 'anthropic.messages', modelId: 'claude-sonnet-4-5', doGenerate })
         const call = { model, prompt: 'Hi' }
         ${code}
         await shutdown()`,
        { HUB_ORIGIN: hub.baseUrl, HUB_CLIENT_ID: account.client_id, HUB_CLIENT_SECRET: account.client_secret },
      )
      const events = await eventsOf(hub, 'acme', '&session_id=chat-1')
      expect(events.filter(({ tokens_in }) => tokens_in === 1000)).toContainEqual(
        expect.objectContaining({ user_id: 'user:kim@example.com', skill_id: 'reply-draft', tokens_out: 20 }),
      )
    },
  }),
)('docs/opentelemetry.md, $name', ({ code, run }) => run(code))

import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { withDefaults } from '../../web/components/quick-start/otlp-defaults.ts'
import { type Snippet, type SnippetValues, snippetsFor } from '../../web/components/quick-start/snippets.ts'
import { prepareTelemetry } from '../api/telemetry-tenants.ts'
import { exportedBy, pairsOf, sendSpan } from '../otlp/exporter-process.ts'
import { type Attributes, log, logs, toProtobuf } from '../otlp/otlp-bodies.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { curlStandIn, installedCurl } from '../support/readme-tour.ts'

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'quick-start-'))
/** Needs quoting in a shell, and escapes in an address. */
const userId = "user:o'neil+test@acme.example"

let hub: TestHub
let values: SnippetValues
beforeAll(async () => {
  hub = await startHub()
  await prepareTelemetry(hub, 'acme')
  const { body: account } = await hub.call('acme', 'POST', '/api/v1/service-accounts', {
    body: { name: 'quick start', scopes: ['telemetry:write'] },
  })
  values = {
    ...{ baseUrl: hub.baseUrl, tenant: 'acme', clientId: account.client_id, clientSecret: account.client_secret },
    ...{ skillId: 'sum-up', skillVersion: '1.0.0', archetypeId: 'analyst', userId },
  }
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await hub.stop()
})

const snippet = (id: Snippet['id'], of = values) => {
  const found = snippetsFor(of).find((each) => each.id === id)
  if (!found) throw new Error(`There is no snippet ${id}.`)
  return found.text
}

/** Returns the newest event, which has to be a new one. */
const seen = new Set<string>()
async function arrived(): Promise<Record<string, unknown>> {
  const { body } = await hub.call(
    'acme',
    'GET',
    '/api/v1/hub/records?record_type=telemetry_event&sort=-created_at&limit=1',
  )
  const [event] = body.records
  expect(event).toBeDefined()
  expect(seen).not.toContain(event.record_id)
  seen.add(event.record_id)
  return event
}

const sent = () => ({
  ...{ skill_id: 'sum-up', archetype_id: 'analyst', user_id: userId, created_by: values.clientId },
  ...{ success: true, llm_platform: 'claude' },
})

test('curl', async () => {
  const seenByPs = join(folder, 'arguments')
  const script = `curl() { echo "$@" >> ${seenByPs}; ${installedCurl() ?? curlStandIn} "$@"; }\n${snippet('curl')}`
  const { stdout } = await run('sh', ['-c', script])
  expect(JSON.parse(stdout)).toMatchObject({ record_id: expect.any(String) })
  const passed = readFileSync(seenByPs, 'utf8')
  expect(passed).toContain('/api/v1/oauth/token')
  expect(passed).not.toContain(values.clientSecret)
  expect(await arrived()).toMatchObject({ ...sent(), latency_ms: 1840 })
})

test('TypeScript', async () => {
  const file = join(folder, 'first-event.mjs')
  writeFileSync(file, snippet('typescript'))
  const { stdout } = await run(process.execPath, [file])
  expect(stdout).toMatch(/^201 \{/)
  expect(await arrived()).toMatchObject({ ...sent(), latency_ms: 1840 })
})

test('Python', async () => {
  const text = snippet('python')
  // Machines without Python check the requests of the two snippets above, which are the same.
  const { stdout } = await run('python3', ['-c', text]).catch((error) => {
    if (error.code === 'ENOENT') return { stdout: undefined }
    throw error
  })
  if (stdout === undefined) return expect(text).toContain('/api/v1/telemetry/events')
  expect(stdout).toMatch(/^201 \{/)
  expect(await arrived()).toMatchObject({ ...sent(), latency_ms: 1840 })
})

const chat: Attributes = {
  ...{ 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'claude-sonnet-4-5' },
  ...{ 'gen_ai.provider.name': 'anthropic', 'gen_ai.usage.input_tokens': 1000, 'gen_ai.usage.output_tokens': 200 },
}

describe('the variables of OpenTelemetry', () => {
  test('set up the SDK', async () => {
    const variables = await exportedBy(snippet('otlp'))
    await sendSpan(variables, chat)
    expect(await arrived()).toMatchObject({ ...sent(), tokens_in: 1000 })
  })

  test('set up the tracing of LiteLLM, whose spans of calls have these attributes', async () => {
    const variables = await exportedBy(snippet('litellm'))
    expect(variables.LITELLM_OTEL_V2).toBe('true')
    await sendSpan(variables, {
      ...chat,
      ...{ 'gen_ai.conversation.id': 'session-7', 'gen_ai.response.model': 'claude-sonnet-4-5-20250929' },
      ...{ 'litellm.call_id': 'call-1', 'litellm.request.streaming': true },
      ...{ 'litellm.metadata.user_api_key_user_id': userId, 'litellm.cost.total': 0.25 },
    })
    const event = await arrived()
    expect(event).toMatchObject({ ...sent(), session_id: 'session-7', cost_usd_estimate: 0.25 })
  })
})

test('the managed settings of Claude Code', async () => {
  const sample = { ...values, skillId: 'of-the-snippet', userId: 'user:of-the-snippet@acme.example' }
  const { env } = JSON.parse(snippet('claude-code', sample)) as { env: Record<string, string> }
  expect(env).toMatchObject({ CLAUDE_CODE_ENABLE_TELEMETRY: '1', OTEL_LOGS_EXPORTER: 'otlp' })
  // The settings are those of every machine, so they name no person and no skill.
  const resource = pairsOf(env.OTEL_RESOURCE_ATTRIBUTES)
  expect(resource).toEqual({ 'archetype.id': 'analyst' })
  const person = { 'session.id': 'cli-1', 'user.id': '5f2a9c', 'user.email': 'kim@acme.example' }
  const record = (name: string, attributes: Attributes) =>
    log({ 'event.name': name, ...person, ...attributes }, { body: { stringValue: `claude_code.${name}` } })
  const activation = record('skill_activated', { 'skill.name': 'sum-up' })
  const request = record('api_request', {
    ...{ model: 'claude-sonnet-4-5', input_tokens: 40, output_tokens: 12 },
    ...{ cost_usd: 0.01, duration_ms: 900, cache_read_tokens: 0, cache_creation_tokens: 0 },
  })
  const response = await fetch(`${env.OTEL_EXPORTER_OTLP_ENDPOINT}/v1/logs`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-protobuf', ...pairsOf(env.OTEL_EXPORTER_OTLP_HEADERS) },
    body: new Uint8Array(toProtobuf(logs([activation, request], resource))),
  })
  expect(response.status).toBe(200)
  expect(await arrived()).toMatchObject({ ...sent(), user_id: 'user:5f2a9c', session_id: 'cli-1', latency_ms: 900 })
})

test('only those defaults are set that a tenant lacks, and all else is left to it', () => {
  const rules = [{ when: { 'service.name': 'bot' }, set: { skill_id: 'by-rule' } }]
  const empty = { default_skill_id: null, default_archetype_id: null, unknown_skill: 'reject' as const }
  const mapping = { ...empty, ignore_operations: ['embeddings'], rules }
  const defaults = { default_skill_id: 'sum-up', default_archetype_id: 'analyst' }
  expect(withDefaults(mapping, values)).toEqual({ ...mapping, ...defaults })
  for (const own of [{ default_skill_id: 'own' }, { default_archetype_id: 'own' }])
    expect(withDefaults({ ...mapping, ...own }, values)).toEqual({ ...mapping, ...defaults, ...own })
  const both = { default_skill_id: 'own', default_archetype_id: 'own' }
  expect(withDefaults({ ...mapping, ...both }, values)).toBeUndefined()
})

test('each snippet links a page of the documentation, those of programs the page of their SDK', () => {
  const pages = readdirSync(new URL('../../docs', import.meta.url))
  const paths = snippetsFor(values).map(({ page }) => page.path.replace(/#.*/, ''))
  expect(paths).toEqual(expect.arrayContaining(['/docs/sdk/typescript', '/docs/sdk/python', '/docs/opentelemetry']))
  for (const path of paths.filter((each) => !each.startsWith('/docs/sdk/')))
    expect(pages).toContain(`${path.replace('/docs/', '')}.md`)
})

test('a snippet without a secret names what to fill in, and only once', () => {
  const texts = snippetsFor({ ...values, clientSecret: undefined })
  for (const { id, text } of texts) {
    expect(text.split('<client secret>').length, id).toBe(2)
    expect(text, id).not.toContain(values.clientSecret)
  }
})

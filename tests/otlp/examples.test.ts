import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { isContent } from '../../server/modules/otlp/mapping/attribute-names.ts'
import { snippetsFor } from '../../web/components/quick-start/snippets.ts'

const text = (file: string) => readFileSync(new URL(`../../examples/${file}`, import.meta.url), 'utf8')

/** Attributes of the conventions, old and new, that have content. */
const contentAttributes = [
  ...['gen_ai.input.messages', 'gen_ai.output.messages', 'gen_ai.system_instructions'],
  ...['gen_ai.tool.definitions', 'gen_ai.tool.description', 'gen_ai.tool.call.arguments', 'gen_ai.tool.call.result'],
  ...['gen_ai.prompt', 'gen_ai.completion', 'gen_ai.prompt.0.content', 'gen_ai.completion.0.content'],
]

interface Collector {
  receivers: Record<string, unknown>
  processors: Record<
    string,
    { actions?: { key?: string; pattern?: string; action: string }[]; send_batch_max_size?: number }
  >
  exporters: Record<
    string,
    { endpoint: string; headers: Record<string, string>; sending_queue?: { num_consumers?: number } }
  >
  service: { pipelines: Record<string, Record<'receivers' | 'processors' | 'exporters', string[]>> }
}

test('the configuration of the Collector defines what its pipelines name, and no more', () => {
  const config = parse(text('opentelemetry-collector/config.yaml')) as Collector
  const pipelines = Object.values(config.service.pipelines)
  expect(Object.keys(config.service.pipelines)).toEqual(['traces', 'logs'])
  for (const part of ['receivers', 'processors', 'exporters'] as const) {
    const named = new Set(pipelines.flatMap((pipeline) => pipeline[part]))
    expect([...named].sort()).toEqual(Object.keys(config[part]).sort())
  }
  for (const { processors } of pipelines) {
    expect(processors[0]).toBe('memory_limiter')
    expect(processors.at(-1)).toBe('batch')
  }
  const hub = config.exporters['otlphttp/hub']!
  expect(hub.endpoint).toMatch(/\/api\/v1\/otlp$/)
  expect(hub.headers).toEqual({ Authorization: `Basic \${env:HUB_BASIC}` })
  // The activation of a skill arrives before the calls that it counts for.
  expect(hub.sending_queue?.num_consumers).toBe(1)
  const { actions } = config.processors['attributes/content']!
  expect(actions!.every(({ key, action }) => action === 'delete' && (key === undefined || isContent(key)))).toBe(true)
  const deletes = (name: string) =>
    actions!.some(({ key, pattern }) => key === name || (pattern !== undefined && new RegExp(pattern).test(name)))
  for (const name of contentAttributes) expect([name, deletes(name), isContent(name)]).toEqual([name, true, true])
  for (const name of ['gen_ai.tool.name', 'gen_ai.tool.type']) expect([name, deletes(name)]).toEqual([name, false])
  // The Hub takes at most 10,000 items in a request.
  expect(config.processors.batch!.send_batch_max_size).toBeLessThanOrEqual(10_000)
})

const sample = {
  ...{ baseUrl: 'https://hub.example.com', tenant: 'acme', clientId: 'client_id', clientSecret: undefined },
  ...{ skillId: 'sum-up', skillVersion: '1.0.0', archetypeId: 'software-engineer', userId: 'user:kim@example.com' },
}
const snippetOf = (wanted: string) => snippetsFor(sample).find(({ id }) => id === wanted)?.text ?? ''

test('the configuration of LiteLLM has the callback, and the variables of docs/opentelemetry.md and the quick start', () => {
  const file = text('litellm/config.yaml')
  expect(parse(file)).toMatchObject({ litellm_settings: { callbacks: ['otel'] } })
  const page = readFileSync(new URL('../../docs/opentelemetry.md', import.meta.url), 'utf8')
  const section = /^## LiteLLM$[\s\S]*?^```sh\n([\s\S]*?)^```/m.exec(page)?.[1] ?? ''
  const namesIn = (code: string, name: RegExp) => [...code.matchAll(name)].map((match) => match[1])
  const variables = namesIn(file, /^# {3}(\w+)=/gm)
  expect(variables).toContain('LITELLM_OTEL_V2')
  expect(namesIn(section, /^export (\w+)=/gm)).toEqual(variables)
  expect(namesIn(snippetOf('litellm'), /^export (\w+)=/gm)).toEqual(variables)
})

test('the managed settings of Claude Code are those of the quick start, which a test runs', () => {
  const withoutSecret = (settings: string) => JSON.parse(settings.replace(/<base64 of [^"]*/, '<base64>'))
  expect(withoutSecret(text('claude-code/managed-settings.json'))).toEqual(withoutSecret(snippetOf('claude-code')))
})

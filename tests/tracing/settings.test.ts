import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadConfig } from '../../server/config.ts'

const signals = (env: Record<string, string>) => {
  const { traces, logs } = loadConfig(env).openTelemetry
  return { traces, logs }
}
const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }

test('nothing is exported without an address', () => {
  expect(signals({})).toEqual({ traces: false, logs: false })
  expect(signals({ ...endpoint, OTEL_SDK_DISABLED: 'true' })).toEqual({ traces: false, logs: false })
})

test('an address exports both signals, or the one that it is for', () => {
  expect(signals(endpoint)).toEqual({ traces: true, logs: true })
  expect(signals({ ...endpoint, OTEL_LOGS_EXPORTER: 'none' })).toEqual({ traces: true, logs: false })
  expect(signals({ OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'http://127.0.0.1/v1/logs' })).toEqual({
    traces: false,
    logs: true,
  })
})

test('the sampler is one of the specification', () => {
  const sampling = (env: Record<string, string>) => loadConfig(env).openTelemetry.sampling
  expect(sampling({})).toEqual({ ratio: 1, byParent: true })
  expect(sampling({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.05' })).toEqual({
    ...{ ratio: 0.05, byParent: false },
  })
  expect(sampling({ OTEL_TRACES_SAMPLER: 'parentbased_always_off' })).toEqual({ ratio: 0, byParent: true })
})

test.each([
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
  ['OTEL_TRACES_EXPORTER', 'zipkin'],
  ['OTEL_TRACES_SAMPLER', 'jaeger_remote'],
  ['OTEL_TRACES_SAMPLER_ARG', '2'],
  ['HUB_SLOW_QUERY_MS', '-1'],
])('%s=%s is refused', (variable, value) => {
  expect(() => loadConfig({ ...endpoint, [variable]: value })).toThrow(variable)
})

test('a Hub without an exporter loads nothing of the SDK', () => {
  const root = join(import.meta.dirname, '../..')
  const files = globSync('{server,cli,contract}/**/*.ts', { cwd: root })
  const importing = (pattern: RegExp) => files.filter((file) => pattern.test(readFileSync(join(root, file), 'utf8')))
  expect(importing(/from '@opentelemetry\//)).toEqual(['server/tracing/open-telemetry.ts'])
  expect(importing(/from '[^']*tracing\/open-telemetry\.ts'|from '\.\/open-telemetry\.ts'/)).toEqual([])
  expect(importing(/import\('\.\/open-telemetry\.ts'\)/)).toEqual(['server/tracing/open-export.ts'])
})

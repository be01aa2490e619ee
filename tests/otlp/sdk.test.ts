import { SpanStatusCode } from '@opentelemetry/api'
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { prepareTelemetry } from '../api/telemetry-tenants.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { chat } from './otlp-bodies.ts'
import { eventsOf } from './otlp-lab.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
  await prepareTelemetry(hub, 'acme')
})
afterAll(() => hub.stop())

test.each([
  ['protobuf', ProtobufExporter],
  ['json', JsonExporter],
])('the SDK of OpenTelemetry with its exporter for %s', async (name, Exporter) => {
  const { body: account } = await hub.call('acme', 'POST', '/api/v1/service-accounts', {
    body: { name: `exporter of ${name}`, scopes: ['telemetry:write'] },
  })
  const exporter = new Exporter({
    url: `${hub.baseUrl}/api/v1/otlp/v1/traces`,
    headers: { Authorization: `Basic ${btoa(`${account.client_id}:${account.client_secret}`)}` },
  })
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'user.id': 'ada@example.com' }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  })
  const tracer = provider.getTracer('test')
  const outer = tracer.startSpan('handle request')
  const span = tracer.startSpan('chat', { attributes: { ...chat, 'session.id': name } })
  span.setStatus({ code: SpanStatusCode.ERROR, message: 'overloaded' })
  span.end()
  outer.end()
  await provider.shutdown()
  const { spanId, traceId } = span.spanContext()
  expect(await eventsOf(hub, 'acme', `&session_id=${name}`)).toMatchObject([
    { trace_id: traceId, span_id: spanId, success: false, error_code: 'error', created_by: account.client_id },
  ])
})

import { ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api'
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto'
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { prepareTelemetry } from '../api/telemetry-tenants.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { chat, spanIdOf, startNanos, traceId } from './otlp-bodies.ts'
import { eventsOf } from './otlp-lab.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
  await prepareTelemetry(hub, 'acme')
})
afterAll(() => hub.stop())

/** Returns the options of an exporter with a new service account. */
async function exporterOf(name: string, signal: 'traces' | 'logs') {
  const { body: account } = await hub.call('acme', 'POST', '/api/v1/service-accounts', {
    body: { name: `exporter of ${name}`, scopes: ['telemetry:write'] },
  })
  return {
    clientId: account.client_id as string,
    url: `${hub.baseUrl}/api/v1/otlp/v1/${signal}`,
    headers: { Authorization: `Basic ${btoa(`${account.client_id}:${account.client_secret}`)}` },
  }
}

test.each([
  ['protobuf', ProtobufExporter],
  ['json', JsonExporter],
])('the SDK of OpenTelemetry with its exporter for %s', async (name, Exporter) => {
  const { clientId, ...options } = await exporterOf(name, 'traces')
  const exporter = new Exporter(options)
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'user.id': 'ada@example.com' }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  })
  const tracer = provider.getTracer('test')
  const outer = tracer.startSpan('handle request')
  const parent = trace.setSpan(ROOT_CONTEXT, outer)
  const span = tracer.startSpan('chat', { attributes: { ...chat, 'session.id': name } }, parent)
  span.setStatus({ code: SpanStatusCode.ERROR, message: 'overloaded' })
  span.end()
  outer.end()
  await provider.shutdown()
  const { spanId, traceId } = span.spanContext()
  expect(await eventsOf(hub, 'acme', `&session_id=${name}`)).toMatchObject([
    {
      ...{ trace_id: traceId, span_id: spanId, parent_span_id: outer.spanContext().spanId, created_by: clientId },
      ...{ skill_id: 'sum-up', tokens_in: 1000, tokens_out: 200, success: false, error_code: 'error' },
    },
  ])
})

test('the SDK of OpenTelemetry with its exporter of logs for protobuf', async () => {
  const { clientId, ...options } = await exporterOf('logs', 'logs')
  const provider = new LoggerProvider({
    resource: resourceFromAttributes({ 'user.id': 'ada@example.com', 'archetype.id': 'analyst' }),
    processors: [new BatchLogRecordProcessor({ exporter: new OTLPLogExporter(options) })],
  })
  const logger = provider.getLogger('com.anthropic.claude_code')
  const timestamp = new Date(Number(startNanos / 1_000_000n))
  const session = { 'session.id': 'by logs' }
  logger.emit({
    eventName: 'claude_code.skill_activated',
    attributes: { ...session, 'skill.name': 'sum-up' },
    timestamp,
  })
  const call = {
    ...{ ...session, model: 'claude-3-haiku-20240307', cost_usd: 0.25, duration_ms: 900, input_tokens: 10 },
    ...{ output_tokens: 20, cache_read_tokens: 30, success: true },
  }
  const spanContext = { traceId, spanId: spanIdOf(7), traceFlags: 1 }
  const context = trace.setSpanContext(ROOT_CONTEXT, spanContext)
  logger.emit({ eventName: 'claude_code.api_request', attributes: call, timestamp, context })
  // Older versions have the name in the body. A record without a time has that of its observation.
  const observedTimestamp = new Date(timestamp.getTime() + 5000)
  logger.emit({ body: 'claude_code.api_request', attributes: call, observedTimestamp, timestamp: [0, 0] })
  await provider.shutdown()
  const events = await eventsOf(hub, 'acme', '&session_id=by%20logs&sort=created_at')
  const common = {
    ...{ skill_id: 'sum-up', archetype_id: 'analyst', user_id: 'user:ada@example.com', created_by: clientId },
    ...{ llm_platform: 'claude', llm_model: call.model, cost_usd_estimate: 0.25, latency_ms: 900 },
    ...{ tokens_in: 10, tokens_out: 20, metadata: { tokens_cache_read: 30 } },
  }
  expect(events).toMatchObject([{ ...common, trace_id: traceId, span_id: spanIdOf(7) }, common])
  const [first, second] = events.map(({ ts }) => Date.parse(ts as string))
  expect(second! - first!).toBe(5000)
})

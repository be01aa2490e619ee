// Sends the calls of the Vercel AI SDK (version 7) to the Hub. Import it once, before the first call.
// Needs HUB_ORIGIN, such as https://hub.example.com, and a service account with telemetry:write:
// HUB_CLIENT_ID and HUB_CLIENT_SECRET.
import { OpenTelemetry } from '@ai-sdk/otel'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { registerTelemetry } from 'ai'

const { HUB_ORIGIN, HUB_CLIENT_ID, HUB_CLIENT_SECRET } = process.env

const exporter = new OTLPTraceExporter({
  url: `${HUB_ORIGIN}/api/v1/otlp/v1/traces`,
  headers: { Authorization: `Basic ${btoa(`${HUB_CLIENT_ID}:${HUB_CLIENT_SECRET}`)}` },
})
const provider = new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter })] })

registerTelemetry(
  new OpenTelemetry({
    tracer: provider.getTracer('ai'),
    // Each span names person, session and skill, because calls and tools are spans of their own.
    enrichSpan: ({ runtimeContext = {} }) => ({
      'user.id': runtimeContext.userId,
      'session.id': runtimeContext.sessionId,
      'skill.name': runtimeContext.skill,
    }),
  }),
)

/** Sends the remaining spans. Call it before the process ends. */
export const shutdown = () => provider.shutdown()

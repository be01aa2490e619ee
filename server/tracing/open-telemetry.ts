import { setTimeout as delay } from 'node:timers/promises'
import {
  SpanKind as Kind,
  ROOT_CONTEXT,
  type SeverityNumber,
  type Span,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { parseTraceParent } from '@opentelemetry/core'
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Config } from '../config.ts'
import { currentWork, type SpanKind, type Tracer, type WorkSpan } from './current-work.ts'

/**
 * Exports traces and logs with the SDK of OpenTelemetry, which reads the variables `OTEL_…`. Only
 * {@link openExport} imports this file, so that a Hub without an exporter loads none of it.
 */

const scope = 'org-memory-hub'
const kinds: Record<SpanKind, Kind> = { server: Kind.SERVER, client: Kind.CLIENT, consumer: Kind.CONSUMER }

const spans = new WeakMap<WorkSpan, Span>()

/** A receiver that does not answer delays the end of a process for no longer. */
const stopMsMax = 5_000

/** Members of a log line that are not attributes of its record. */
const notAttributes = new Set(['level', 'time', 'msg'])

export interface OpenTelemetry {
  readonly tracer: Tracer | undefined
  /** Exports a line of the log: JSON as pino writes it. Undefined if logs are not exported. */
  readonly writeLog: ((line: string) => void) | undefined
  /** Sends what waits, for five seconds at most. */
  stop(): Promise<void>
}

export function startOpenTelemetry({
  version,
  openTelemetry,
}: Pick<Config, 'version' | 'openTelemetry'>): OpenTelemetry {
  const { traces, logs, sampling } = openTelemetry
  const root = new TraceIdRatioBasedSampler(sampling.ratio)
  const sampler = sampling.byParent ? new ParentBasedSampler({ root }) : root
  const resource = resourceFromAttributes({ 'service.name': scope, 'service.version': version }).merge(
    detectResources({ detectors: [envDetector] }),
  )
  const tracing = traces
    ? new TracerProvider({
        ...{ resource, sampler },
        spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
      })
    : undefined
  const logging = logs
    ? new LoggerProvider({ resource, processors: [new BatchLogRecordProcessor({ exporter: new OTLPLogExporter() })] })
    : undefined
  return {
    tracer: tracing && tracerOf(tracing),
    writeLog: logging && logWriter(logging),
    stop: async () => {
      const sent = Promise.allSettled([tracing?.shutdown(), logging?.shutdown()])
      await Promise.race([sent, delay(stopMsMax, undefined, { ref: false })])
    },
  }
}

function tracerOf(provider: TracerProvider): Tracer {
  const tracing = provider.getTracer(scope)
  return {
    start: (kind, name, parent) => workSpan(tracing.startSpan(name, { kind: kinds[kind] }, contextOf(parent))),
  }
}

function contextOf(parent: WorkSpan | string | undefined) {
  if (parent === undefined) return ROOT_CONTEXT
  if (typeof parent === 'string') {
    const remote = parseTraceParent(parent)
    return remote ? trace.setSpanContext(ROOT_CONTEXT, { ...remote, isRemote: true }) : ROOT_CONTEXT
  }
  const span = spans.get(parent)
  return span ? trace.setSpan(ROOT_CONTEXT, span) : ROOT_CONTEXT
}

function workSpan(span: Span): WorkSpan {
  const { traceId, spanId, traceFlags } = span.spanContext()
  const work: WorkSpan = {
    set: (attribute, value) => {
      span.setAttribute(attribute, value)
    },
    end: (failed) => {
      if (failed) {
        span.setAttribute('error.type', failed.type)
        span.setStatus({ code: SpanStatusCode.ERROR })
      }
      span.end()
    },
    traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
  }
  spans.set(work, span)
  return work
}

function logWriter(provider: LoggerProvider): (line: string) => void {
  const logger = provider.getLogger(scope)
  return (line) => {
    const fields = JSON.parse(line) as { level: number; time: string; msg?: string } & Record<string, unknown>
    logger.emit({
      timestamp: new Date(fields.time),
      severityNumber: severityOf(fields.level),
      body: fields.msg ?? '',
      attributes: attributesOf(fields),
      context: contextOf(currentWork()?.span),
    })
  }
}

/** The levels of pino are 10 (trace) to 60 (fatal); those of OpenTelemetry begin at 1 and have four steps each. */
function severityOf(level: number): SeverityNumber {
  return (Math.min(Math.max(Math.round(level / 10), 1), 6) * 4 - 3) as SeverityNumber
}

function attributesOf(fields: Record<string, unknown>): Record<string, string | number | boolean> {
  const attributes: Record<string, string | number | boolean> = {}
  for (const [name, value] of Object.entries(fields)) {
    if (notAttributes.has(name) || value === undefined || value === null) continue
    const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    attributes[name] = isPlain ? value : JSON.stringify(value)
  }
  return attributes
}

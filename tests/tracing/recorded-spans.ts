import { type SpanKind, useTracer, type WorkSpan } from '../../server/tracing/current-work.ts'

export interface RecordedSpan extends WorkSpan {
  kind: SpanKind
  name: string
  parent: WorkSpan | string | undefined
  attributes: Record<string, string | number | boolean>
  /** Undefined while it runs, null if it succeeded. */
  failed: string | null | undefined
}

/** Records spans in the place of the SDK. Call `useTracer(undefined)` afterwards. */
export function recordSpans(): RecordedSpan[] {
  const spans: RecordedSpan[] = []
  useTracer({
    start: (kind, name, parent) => {
      const span: RecordedSpan = {
        ...{ kind, name, parent, attributes: {}, failed: undefined },
        traceparent: `00-${'a'.repeat(32)}-${String(spans.length + 1).padStart(16, '0')}-01`,
        set: (attribute, value) => {
          span.attributes[attribute] = value
        },
        end: (failed) => {
          span.failed = failed?.type ?? null
        },
      }
      spans.push(span)
      return span
    },
  })
  return spans
}

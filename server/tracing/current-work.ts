import { AsyncLocalStorage } from 'node:async_hooks'

/** A span of a trace. It is recorded when it ends. */
export interface WorkSpan {
  /** Sets an attribute. It never contains content, a secret or an address of a person. */
  set(attribute: string, value: string | number | boolean): void
  /** Ends the span. `failed` marks it as an error, with the type of the error and without its text. */
  end(failed?: { type: string }): void
  /** The value of the header `traceparent` (W3C Trace Context) of calls below this span. */
  readonly traceparent: string
}

export type SpanKind = 'server' | 'client' | 'consumer'

/** Starts spans. It exists only while traces are exported. */
export interface Tracer {
  /**
   * @param parent a span of this process, or the header `traceparent` of a caller; without one, a new trace begins
   */
  start(kind: SpanKind, name: string, parent: WorkSpan | string | undefined): WorkSpan
}

/** The request or job that runs. */
export interface Work {
  /** The operation id of a request, or the name of a job. */
  operation: string
  readonly span: WorkSpan | undefined
}

const current = new AsyncLocalStorage<Work>()
let active: Tracer | undefined

/** Sets the tracer of this process; undefined ends tracing. */
export function useTracer(tracer: Tracer | undefined): void {
  active = tracer
}

/** Returns the tracer, if traces are exported. */
export function tracer(): Tracer | undefined {
  return active
}

/** Returns the request or job that the running code belongs to, if any. */
export function currentWork(): Work | undefined {
  return current.getStore()
}

/** Runs `run` as a part of the work. */
export function runAs<T>(work: Work, run: () => T): T {
  return current.run(work, run)
}

/** Runs a job with a span of its own. */
export async function traceJob<T>(name: string, run: () => Promise<T>): Promise<T> {
  const span = active?.start('consumer', `job ${name}`, undefined)
  span?.set('hub.operation', name)
  return runAs({ operation: name, span }, () => (span ? endWith(span, run) : run()))
}

/**
 * Runs a call to another server with a span, and passes `traceparent` to it.
 *
 * @param run receives the headers to add
 */
export async function traceCall<T extends { status: number }>(
  method: string,
  url: string,
  run: (headers: Record<string, string>) => Promise<T>,
): Promise<T> {
  const span = active?.start('client', method, currentWork()?.span)
  if (!span) return run({})
  span.set('http.request.method', method)
  // The path and the query may contain secrets of the tenant.
  span.set('server.address', hostOf(url))
  return endWith(span, async () => {
    const answer = await run({ traceparent: span.traceparent })
    span.set('http.response.status_code', answer.status)
    return answer
  })
}

/** Runs `run`, and ends the span with its result. */
export async function endWith<T>(span: WorkSpan, run: () => Promise<T>): Promise<T> {
  try {
    const result = await run()
    span.end()
    return result
  } catch (error) {
    span.end({ type: error instanceof Error ? error.name : 'unknown' })
    throw error
  }
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : 'invalid'
}

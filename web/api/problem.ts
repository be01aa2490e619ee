import type { PointedError } from '../../contract/domain-error.ts'

/** An error response of the Hub: an RFC 7807 document (interface section 7), or a substitute without one. */
export class HubProblem extends Error {
  override readonly name = 'HubProblem'
  readonly status: number
  /** The last part of the document's `type`, such as `validation-failed`; empty without a document. */
  readonly slug: string
  readonly title: string
  readonly errors: readonly PointedError[]
  /** The request id, which support needs. */
  readonly requestId: string | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(status: number, document: Record<string, unknown>, retryAfterSeconds?: number) {
    const title = typeof document.title === 'string' ? document.title : `The Hub answered ${status}`
    super(typeof document.detail === 'string' ? document.detail : title)
    this.status = status
    this.title = title
    this.slug = typeof document.type === 'string' ? (document.type.split('/').at(-1) ?? '') : ''
    this.errors = Array.isArray(document.errors) ? (document.errors as PointedError[]) : []
    this.requestId = typeof document.instance === 'string' ? document.instance : undefined
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** Signals that no response arrived: no network, or no server. */
export class HubUnreachable extends Error {
  override readonly name = 'HubUnreachable'

  constructor(cause: unknown) {
    super('Cannot reach the Hub. Check the connection.', { cause })
  }
}

/** Reads the problem document of a response that is not 2xx. */
export async function problemOf(response: Response): Promise<HubProblem> {
  const document: unknown = await response.json().catch(() => undefined)
  const retryAfter = Number.parseInt(response.headers.get('retry-after') ?? '', 10)
  return new HubProblem(
    response.status,
    typeof document === 'object' && document !== null ? (document as Record<string, unknown>) : {},
    Number.isNaN(retryAfter) ? undefined : retryAfter,
  )
}

/** Returns true if the same call may succeed a little later without intervention. */
export function isTransient(error: unknown): boolean {
  return (
    error instanceof HubUnreachable || (error instanceof HubProblem && (error.status === 429 || error.status >= 500))
  )
}

/** Returns true if the Hub responded that the object does not exist (yet): pages show this as a start, not a failure. */
export function isMissing({ error }: { error: unknown }): boolean {
  return error instanceof HubProblem && error.status === 404
}

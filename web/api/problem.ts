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

/**
 * Returns the errors of a form's fields, by the names of the body's members: `/credentials/token` becomes
 * `credentials.token`, the form of nested fields in @mantine/form. Pointers to other places belong to no field.
 */
export function fieldErrors(error: unknown): Record<string, string> {
  if (!(error instanceof HubProblem)) return {}
  const named = error.errors.filter(({ pointer }) => !/^\/(query|headers)\//.test(pointer))
  return Object.fromEntries(
    named.map(({ pointer, detail }) => [
      pointer
        .slice(1)
        .split('/')
        .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
        .join('.'),
      // The Hub's text continues the pointer; below a field it stands alone.
      detail.charAt(0).toUpperCase() + detail.slice(1),
    ]),
  )
}

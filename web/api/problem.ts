import type { PointedError } from '../../contract/domain-error.ts'

/** A refusal of the Hub: an RFC 7807 document (interface section 7), or what stands for it where there is none. */
export class HubProblem extends Error {
  override readonly name = 'HubProblem'
  readonly status: number
  /** Last part of the document's `type`, such as `validation-failed`; empty where the answer had no document. */
  readonly slug: string
  readonly title: string
  readonly errors: readonly PointedError[]
  /** What support asks for. */
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

/** No answer came: no network, or nobody who listens. */
export class HubUnreachable extends Error {
  override readonly name = 'HubUnreachable'

  constructor(cause: unknown) {
    super('Cannot reach the Hub. Check the connection.', { cause })
  }
}

/** Reads the problem document of an answer that is not 2xx. */
export async function problemOf(response: Response): Promise<HubProblem> {
  const document: unknown = await response.json().catch(() => undefined)
  const retryAfter = Number.parseInt(response.headers.get('retry-after') ?? '', 10)
  return new HubProblem(
    response.status,
    typeof document === 'object' && document !== null ? (document as Record<string, unknown>) : {},
    Number.isNaN(retryAfter) ? undefined : retryAfter,
  )
}

/** Whether the same call may succeed a little later, without anybody's doing. */
export function isTransient(error: unknown): boolean {
  return (
    error instanceof HubUnreachable || (error instanceof HubProblem && (error.status === 429 || error.status >= 500))
  )
}

/**
 * What is wrong with the fields of a form, by the names of the body's members: `/credentials/token` becomes
 * `credentials.token`, as @mantine/form names nested fields. The rest of the pointers belong to no field.
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
      // The Hub writes what follows the pointer; below a field it stands alone.
      detail.charAt(0).toUpperCase() + detail.slice(1),
    ]),
  )
}

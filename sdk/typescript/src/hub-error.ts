/** One fault of a request, as `validation-failed` lists them. */
export interface FieldError {
  /** The JSON pointer into the body, `/query/<name>` or `/headers/<name>`. */
  pointer: string
  detail: string
}

/** An error response of the Hub (RFC 7807). Branch on {@link slug}. */
export class HubError extends Error {
  override readonly name: string = 'HubError'
  /** The HTTP status. */
  readonly status: number
  /** The last segment of `type`, such as `skill-not-registered`; `unknown` if the response has no problem document. */
  readonly slug: string
  readonly detail: string | undefined
  /** The pointer to the first fault. */
  readonly pointer: string | undefined
  /** All faults of a request that failed validation. */
  readonly errors: readonly FieldError[]
  /** The seconds after which the Hub wants the next attempt. */
  readonly retryAfter: number | undefined
  /** The id of the request in the logs of the Hub. */
  readonly requestId: string | undefined
  /** The whole problem document; empty if the response had none. */
  readonly document: Readonly<Record<string, unknown>>

  constructor(status: number, document: Readonly<Record<string, unknown>>, retryAfter?: number) {
    const detail = textOf(document.detail)
    super(`${status} ${textOf(document.title) ?? ''}: ${detail ?? 'no detail'}`)
    this.status = status
    this.slug = textOf(document.type)?.split('/').at(-1) || 'unknown'
    this.detail = detail
    this.errors = Array.isArray(document.errors) ? document.errors.filter(isFieldError) : []
    this.pointer = textOf(document.pointer) ?? this.errors[0]?.pointer
    this.retryAfter = retryAfter
    this.requestId = textOf(document.instance)
    this.document = document
  }

  /** Reads an error response, and its body to the end. */
  static async from(response: Response): Promise<HubError> {
    const document: unknown = await response.json().catch(() => undefined)
    const isObject = typeof document === 'object' && document !== null && !Array.isArray(document)
    return new HubError(
      response.status,
      isObject ? (document as Record<string, unknown>) : {},
      retryAfterSeconds(response.headers.get('retry-after'), Date.now()),
    )
  }
}

/** Returns the seconds of a `Retry-After` header, which is a number or a date; undefined if it is absent or malformed. */
export function retryAfterSeconds(value: string | null, nowMs: number): number | undefined {
  if (value === null) return undefined
  if (/^\d{1,9}$/.test(value.trim())) return Number(value)
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.max(0, (date - nowMs) / 1000)
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function isFieldError(value: unknown): value is FieldError {
  const { pointer, detail } = (value ?? {}) as Partial<FieldError>
  return typeof pointer === 'string' && typeof detail === 'string'
}

import { DomainError, type PointedError } from '../../contract/domain-error.ts'
import { problems } from '../../contract/problems.ts'

/** An RFC 7807 document of interface section 7. */
export interface ProblemDocument {
  type: string
  title: string
  status: number
  detail: string
  instance: string
  errors?: PointedError[]
  [extension: string]: unknown
}

const errorsMax = 1000

/** Returns the document of an error. `baseUrl` has no trailing slash. */
export function problemDocument(error: DomainError, baseUrl: string, requestId: string): ProblemDocument {
  const { status, title } = problems[error.slug]
  return {
    type: `${baseUrl}/errors/${error.slug}`,
    title,
    status,
    detail: error.message,
    instance: requestId,
    ...error.extensions,
    ...(error.errors && { errors: error.errors.slice(0, errorsMax) }),
  }
}

const oauthCodes: Partial<Record<number, string>> = { 401: 'invalid_client', 403: 'invalid_client' }

/** Adds the members that OAuth clients expect (RFC 6749, section 5.2), unless the error already has them. */
export function withOAuthMembers(document: ProblemDocument): ProblemDocument {
  const fallback = document.status >= 500 || document.status === 429 ? 'temporarily_unavailable' : 'invalid_request'
  return {
    error: oauthCodes[document.status] ?? fallback,
    // The alphabet of this member has neither quotation marks nor characters outside ASCII.
    error_description: document.detail
      .replaceAll('"', "'")
      .replaceAll('\\', '/')
      .replaceAll(/[^\x20-\x7e]/g, '?'),
    ...document,
  }
}

interface CodedError {
  code?: unknown
  statusCode?: unknown
}

/** Converts any error of a request to a problem of the service. An unexpected error becomes `internal`. */
export function asDomainError(error: unknown): DomainError {
  if (error instanceof DomainError) return error
  const { code, statusCode } = (error ?? {}) as CodedError
  switch (code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE':
      return new DomainError(
        'unsupported-media-type',
        'The Content-Type is not a media type that this operation accepts.',
      )
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new DomainError('payload-too-large', 'The body is larger than this operation accepts.')
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
    case 'FST_ERR_INVALID_URL':
      return badPath('is not a path with valid percent-encoding')
    case 'ECONNRESET':
    case 'ERR_STREAM_PREMATURE_CLOSE':
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new DomainError('malformed-json', 'The body ended before its announced length.', { cause: error })
  }
  if (statusCode === 404) return new DomainError('not-found', 'No operation exists at this address.')
  return new DomainError(
    'internal',
    'The service failed unexpectedly. The operator can find the failure by the request id.',
    {
      cause: error,
    },
  )
}

/** Returns the 400 for an unreadable path. */
export function badPath(detail: string): DomainError {
  return new DomainError('validation-failed', `The path ${detail}.`, { errors: [{ pointer: '/path', detail }] })
}

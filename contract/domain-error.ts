import { type ProblemSlug, problems } from './problems.ts'

/** One thing wrong with a request. `pointer` is a JSON pointer: `/field/3`, `/query/limit` or `/headers/if-match`. */
export interface PointedError {
  pointer: string
  detail: string
}

interface DomainErrorOptions {
  errors?: PointedError[]
  /** Further members of the problem document, such as `tenant_slug`. */
  extensions?: Record<string, unknown>
  retryAfterSeconds?: number
  cause?: unknown
  /** False if the log already has the cause, so that not every failed request logs it again. */
  logged?: boolean
}

/**
 * Carries a problem from a service to HTTP. The slug decides status and title (contract/problems.ts); `detail` says
 * what was wrong and what to do. The HTTP layer renders it as an RFC 7807 document.
 */
export class DomainError extends Error {
  override readonly name = 'DomainError'
  readonly slug: ProblemSlug
  readonly errors: PointedError[] | undefined
  readonly extensions: Record<string, unknown>
  readonly retryAfterSeconds: number | undefined
  readonly logged: boolean

  constructor(slug: ProblemSlug, detail: string, options: DomainErrorOptions = {}) {
    super(detail, { cause: options.cause })
    this.slug = slug
    this.errors = options.errors
    this.extensions = options.extensions ?? {}
    this.retryAfterSeconds = options.retryAfterSeconds
    this.logged = options.logged ?? true
  }

  get status(): number {
    return problems[this.slug].status
  }
}

/** A `validation-failed` error for the given places. */
export function validationFailed(errors: PointedError[], detail?: string): DomainError {
  return new DomainError('validation-failed', detail ?? summaryOf(errors), { errors })
}

/** Says all errors in one text, which is the detail of a problem that has no other. */
export function summaryOf(errors: readonly PointedError[]): string {
  return errors.map(({ pointer, detail }) => `${pointer || 'The body'} ${detail}`).join('; ')
}

/** Whether something that is needed is away for now, such as the database, so that trying again helps. */
export function isUnavailable(error: unknown): error is DomainError {
  return error instanceof DomainError && error.slug === 'hub-unavailable'
}

/** Names the storage that is full. */
export type FullPlace = 'database' | 'files' | 'backup'

const fullWords: Record<FullPlace, string> = {
  database: 'the disk of the database',
  files: 'the disk of exported files',
  backup: 'the disk that the backup is written to',
}

/** The 503 for a disk without space; `full` names what is kept on it. */
export function storageFull(
  full: FullPlace,
  options: { retryAfterSeconds?: number; cause?: unknown } = {},
): DomainError {
  const detail = `Storage is full: ${fullWords[full]} has too little free space. Tell the operator, and try again later.`
  return new DomainError('hub-unavailable', detail, { retryAfterSeconds: 60, ...options, extensions: { full } })
}

/** Whether somebody has to make room on a disk. */
export function isStorageFull(error: unknown): error is DomainError {
  return isUnavailable(error) && error.extensions.full !== undefined
}

/** The 403 for a tenant that does not exist, is not the caller's or is not served here: nobody learns which. */
export function invalidTenant(tenantSlug: string): DomainError {
  return new DomainError('invalid-tenant', 'The tenant does not exist, or the caller has no access to it.', {
    extensions: { tenant_slug: tenantSlug },
  })
}

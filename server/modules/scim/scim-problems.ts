import { DomainError } from '../../../contract/domain-error.ts'
import type { JsonObject } from '../../../provenance/json.ts'
import type { Dialect } from './discovery.ts'
import { messageSchemas } from './scim-schemas.ts'

/** The `scimType` values of RFC 7644, table 9 that this server uses. */
export type ScimType =
  | 'invalidFilter'
  | 'tooMany'
  | 'uniqueness'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue'

/** Creates a 400 with its `scimType`. */
export function scimProblem(scimType: ScimType, detail: string): DomainError {
  return new DomainError('validation-failed', detail, { extensions: { scimType } })
}

/** Creates the 404, the same for unknown ids and those of other tenants. */
export function noSuchResource(kind: string, id: string): DomainError {
  return new DomainError('not-found', `No ${kind} ${JSON.stringify(id.slice(0, 100))} exists.`)
}

/**
 * Creates the 412 for a request whose `If-Match` names another version. DomainError has no status of its own for it.
 */
export function preconditionFailed(current: string): DomainError {
  return new DomainError(
    'concurrent-modification',
    `The resource has changed: its version is now ${current}. Read it again first.`,
    { extensions: { scimStatus: 412 } },
  )
}

/** Renders an error (RFC 7644, section 3.12) and returns its HTTP status. */
export function renderError(error: DomainError, dialect: Dialect): { status: number; body: string } {
  const { scimStatus } = error.extensions
  const status = typeof scimStatus === 'number' ? scimStatus : error.status
  const scimType = scimTypeOf(error, status)
  const body: JsonObject = {
    schemas: [messageSchemas.error],
    status: dialect.errorStatus(status),
    ...(scimType && { scimType }),
    detail: error.message,
  }
  return { status, body: JSON.stringify(body) }
}

function scimTypeOf(error: DomainError, status: number): ScimType | undefined {
  const { scimType } = error.extensions
  if (typeof scimType === 'string') return scimType as ScimType
  if (error.slug === 'malformed-json') return 'invalidSyntax'
  // Errors of the body as a whole, found before SCIM reads it: too deep nesting, invalid numbers and names.
  if (status === 400)
    return error.errors?.some(({ pointer }) => isOfMembers(pointer)) ? 'invalidValue' : 'invalidSyntax'
  if (status === 409 && error.errors?.some(({ pointer }) => /^\/(userName|displayName)$/.test(pointer))) {
    return 'uniqueness'
  }
  return undefined
}

/** Returns whether the pointer is one that the directory reports; the JSON reader reports other places. */
function isOfMembers(pointer: string): boolean {
  return /^\/(members|userName|displayName|externalId|emails)(\/|$)/.test(pointer)
}

import type { DomainError } from '../../../contract/domain-error.ts'
import type { JsonObject } from '../../../provenance/json.ts'
import type { Dialect } from './dialect.ts'
import type { ScimType } from './scim-problems.ts'
import { messageSchemas } from './scim-schemas.ts'

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

import type { DomainError } from '../../../contract/domain-error.ts'
import type { JsonObject } from '../../../provenance/json.ts'
import type { Dialect } from './dialect.ts'
import type { ScimType } from './scim-problems.ts'
import { messageSchemas } from './scim-schemas.ts'

/** An error as RFC 7644, section 3.12 has it, with the status that it is answered with. */
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
  // Of the body as a whole, before SCIM looks at it: nested too deep, numbers and names that are not taken.
  if (status === 400)
    return error.errors?.some(({ pointer }) => isOfMembers(pointer)) ? 'invalidValue' : 'invalidSyntax'
  if (status === 409 && error.errors?.some(({ pointer }) => /^\/(userName|displayName)$/.test(pointer))) {
    return 'uniqueness'
  }
  return undefined
}

/** What the directory refuses, it names; what the JSON reader does, it names too, so both are told apart by place. */
function isOfMembers(pointer: string): boolean {
  return /^\/(members|userName|displayName|externalId|emails)(\/|$)/.test(pointer)
}

import { acceptedTypes } from '../../http/request-headers.ts'

/** The members of responses that clients read in two ways. */
export interface Dialect {
  /** Returns `status` of an error: text (RFC 7644, section 3.12), or a number. */
  errorStatus(status: number): string | number
  /** Returns `name` of a resource type: `User` (RFC 7643, section 6), or `Users`. */
  resourceTypeName(name: string): string
}

const standard: Dialect = { errorStatus: String, resourceTypeName: (name) => name }

/**
 * The dialect of scim.dev: its verifier, and clients made with it, expect these two values as its own server writes
 * them.
 */
const plainJson: Dialect = { errorStatus: (status) => status, resourceTypeName: (name) => `${name}s` }

/**
 * Returns the dialect for an Accept header. Callers that accept `application/scim+json`, any type, or none get the
 * standard. Callers that accept `application/json` but not SCIM's own media type get plain JSON. See ADR 0037.
 */
export function dialectOf(accept: string | undefined): Dialect {
  const accepted = acceptedTypes(accept)
  return accepted.has('application/json') && !accepted.has('application/scim+json') ? plainJson : standard
}

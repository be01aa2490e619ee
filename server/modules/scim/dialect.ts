import { acceptedTypes } from '../../http/accept-header.ts'

/** Where clients read the same answer in two ways. */
export interface Dialect {
  /** `status` of an error: text (RFC 7644, section 3.12), or a number. */
  errorStatus(status: number): string | number
  /** `name` of a resource type: `User` (RFC 7643, section 6), or `Users`. */
  resourceTypeName(name: string): string
}

const standard: Dialect = { errorStatus: String, resourceTypeName: (name) => name }

/** That of scim.dev: its verifier, and clients made with it, compare these two as its own server writes them. */
const plainJson: Dialect = { errorStatus: (status) => status, resourceTypeName: (name) => `${name}s` }

/**
 * The standard's, for everybody who names `application/scim+json`, any type, or none. Who asks for `application/json` and
 * not for SCIM's own media type reads plain JSON, and gets the two members in the other way. See ADR 0037.
 */
export function dialectOf(accept: string | undefined): Dialect {
  const accepted = acceptedTypes(accept)
  return accepted.has('application/json') && !accepted.has('application/scim+json') ? plainJson : standard
}

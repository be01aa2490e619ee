import { preconditionFailed, scimProblem } from './scim-problems.ts'

/** The weak entity tag of a version (RFC 7644, section 3.14). */
export function entityTag(revision: number): string {
  return `W/"${revision}"`
}

/**
 * @throws DomainError 412 when the header of a change names other versions than the current one; 400 `invalidSyntax` when
 *   it is neither `*` nor a list of tags
 */
export function requireMatch(ifMatch: string | undefined, current: string): void {
  if (ifMatch !== undefined && !names('If-Match', ifMatch, current)) throw preconditionFailed(current)
}

/** Whether a reader has the current version already: then it is answered 304. */
export function isKnown(ifNoneMatch: string | undefined, current: string): boolean {
  return ifNoneMatch !== undefined && names('If-None-Match', ifNoneMatch, current)
}

/** Compared weakly (RFC 9110, section 8.8.3.2): all versions here are weak. */
function names(header: string, value: string, current: string): boolean {
  if (value.trim() === '*') return true
  const tags = value.split(',').map((part) => /^(?:W\/)?("[\x21\x23-\x7e]*")$/.exec(part.trim())?.[1])
  if (tags.includes(undefined))
    throw scimProblem('invalidSyntax', `${header} must be * or entity tags in double quotes.`)
  return tags.includes(current.slice(2))
}

import type { Database, TenantTx } from '../../db/database.ts'
import type { Directory } from '../roster/directory/directory-types.ts'
import { preconditionFailed, scimProblem } from './scim-problems.ts'
import type { ScimContext } from './scim-types.ts'

/** Returns the weak entity tag of a version (RFC 7644, section 3.14). */
export function entityTag(revision: number): string {
  return `W/"${revision}"`
}

/**
 * Requires that If-Match, if sent, names the current version.
 *
 * @throws DomainError 412 if it names other versions; 400 `invalidSyntax` if it is neither `*` nor a list of tags
 */
function requireMatch(ifMatch: string | undefined, current: string): void {
  if (ifMatch !== undefined && !names('If-Match', ifMatch, current)) throw preconditionFailed(current)
}

/** Returns whether If-None-Match names the current version, which calls for a 304. */
export function isKnown(ifNoneMatch: string | undefined, current: string): boolean {
  return ifNoneMatch !== undefined && names('If-None-Match', ifNoneMatch, current)
}

/** Compares weakly (RFC 9110, section 8.8.3.2), since all versions here are weak. */
function names(header: string, value: string, current: string): boolean {
  if (value.trim() === '*') return true
  const tags = value.split(',').map((part) => /^(?:W\/)?("[\x21\x23-\x7e]*")$/.exec(part.trim())?.[1])
  if (tags.includes(undefined))
    throw scimProblem('invalidSyntax', `${header} must be * or entity tags in double quotes.`)
  return tags.includes(current.slice(2))
}

/**
 * Runs a change of the current version of a resource, with the directory locked: concurrent changes of one person each
 * start from the result of the previous one.
 *
 * @param read returns the current version
 * @throws DomainError 412 if `If-Match` names other versions
 */
export function changeResource<Resource extends { revision: number }, T>(
  { database, directory }: { database: Database; directory: Directory },
  { tenant, ifMatch }: ScimContext,
  read: (tx: TenantTx) => Promise<Resource>,
  work: (tx: TenantTx, before: Resource) => Promise<T>,
): Promise<T> {
  return database.withTenant(tenant.slug, async (tx) => {
    await directory.lock(tx)
    const before = await read(tx)
    requireMatch(ifMatch, entityTag(before.revision))
    return work(tx, before)
  })
}

import { DomainError } from '../../../contract/domain-error.ts'
import type { Database, TenantTx } from '../../db/database.ts'
import { requireMatch } from './entity-tags.ts'
import { preconditionFailed } from './scim-problems.ts'
import type { ScimContext } from './scim-types.ts'

const triesMax = 5

/**
 * Runs a change of a resource that is worked out from its present version. Where another request was faster, it is worked
 * out anew, unless the caller named a version: then that is 412.
 *
 * @param work gets a transaction, and the check of `If-Match` to call with the present entity tag
 */
export async function changeResource<T>(
  database: Database,
  { tenant, ifMatch }: ScimContext,
  work: (tx: TenantTx, check: (etag: string) => void) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    let current = ''
    try {
      return await database.withTenant(tenant.slug, (tx) =>
        work(tx, (etag) => {
          current = etag
          requireMatch(ifMatch, etag)
        }),
      )
    } catch (error) {
      if (!isOutrun(error)) throw error
      if (ifMatch !== undefined && ifMatch.trim() !== '*') throw preconditionFailed(`no longer ${current}`)
      if (tries === triesMax) throw error
    }
  }
}

/** The directory says so without a pointer; with one, a name is taken, and trying again changes nothing. */
function isOutrun(error: unknown): boolean {
  return (
    error instanceof DomainError &&
    error.slug === 'concurrent-modification' &&
    error.errors === undefined &&
    Object.keys(error.extensions).length === 0
  )
}

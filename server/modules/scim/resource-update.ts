import type { Database, TenantTx } from '../../db/database.ts'
import type { Directory } from '../roster/directory/directory-types.ts'
import { requireMatch } from './entity-tags.ts'
import type { ScimContext } from './scim-types.ts'

/**
 * Runs a change that depends on the current version of a resource, with the directory locked: concurrent changes of one
 * person each start from the result of the previous one.
 *
 * @param work receives a transaction, and the check of `If-Match` to call with the current entity tag
 */
export function changeResource<T>(
  { database, directory }: { database: Database; directory: Directory },
  { tenant, ifMatch }: ScimContext,
  work: (tx: TenantTx, check: (etag: string) => void) => Promise<T>,
): Promise<T> {
  return database.withTenant(tenant.slug, async (tx) => {
    await directory.lock(tx)
    return work(tx, (etag) => requireMatch(ifMatch, etag))
  })
}

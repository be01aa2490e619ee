import type { Database, TenantTx } from '../../db/database.ts'
import type { Directory } from '../roster/directory/directory-types.ts'
import { requireMatch } from './entity-tags.ts'
import type { ScimContext } from './scim-types.ts'

/**
 * Runs a change of a resource that is worked out from its present version, with nobody else changing the directory
 * meanwhile: of many who change the same person at once, each finds what the others left.
 *
 * @param work gets a transaction, and the check of `If-Match` to call with the present entity tag
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

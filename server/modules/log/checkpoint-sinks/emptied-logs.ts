import type { Database } from '../../../db/database.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import { hasHeadAndKey } from '../log-store.ts'

/** Maximum tenants per look, to bound its cost for the database. Further tenants follow at the next looks. */
const tenantsAtOnce = 50

/**
 * Finds tenants without a signed head or without a signing key. Such a tenant cannot write an event about its own loss.
 * A tenant in creation lacks both too, so only a log that was stored before counts as lost.
 *
 * @returns the names of their logs, as far as they were checked
 */
export function createEmptiedLogs(deps: {
  database: Database
  directory: Pick<TenantDirectory, 'find' | 'slugs'>
}): () => Promise<ReadonlySet<string>> {
  const { database, directory } = deps
  const emptied = new Set<string>()
  let last = ''

  return async () => {
    const slugs = [...(await directory.slugs())].sort()
    const next = slugs.filter((slug) => slug > last)
    const due = [...next, ...slugs.slice(0, slugs.length - next.length)].slice(0, tenantsAtOnce)
    last = due.at(-1) ?? ''
    for (const slug of due) {
      const tenant = await directory.find(slug, { evenSuspended: true })
      if (tenant === undefined) continue
      if (await database.withTenant(slug, hasHeadAndKey, { readOnly: true })) emptied.delete(tenant.logName)
      else emptied.add(tenant.logName)
    }
    return emptied
  }
}

import { createHmac } from 'node:crypto'
import type { TenantTx } from '../../../db/database.ts'
import type { ModuleParts } from '../../../module-parts.ts'
import type { TokenRevoker } from '../../auth/auth-types.ts'
import { createDirectoryGroups, groupResponses } from './directory-groups.ts'
import { groupCounts, memberCounts } from './directory-members-store.ts'
import { queryGroups, queryUsers } from './directory-query-store.ts'
import { createDirectorySync } from './directory-sync.ts'
import type { Directory } from './directory-types.ts'
import { DirectoryUsers, withGroups } from './directory-users.ts'
import { lockDirectory, rosterCounts } from './directory-users-store.ts'
import type { GroupArchetypes } from './group-archetypes.ts'
import { People } from './people.ts'
import { countLimit, shortPage } from './short-page.ts'

export function createDirectory(
  deps: Pick<ModuleParts, 'governance' | 'events'> & {
    revoker: TokenRevoker
    assignment: GroupArchetypes
    formerAddressKey: (tenantId: string, emailKey: string) => string
    settleLater: (tx: TenantTx) => Promise<void>
  },
): Directory {
  const users = new DirectoryUsers({ ...deps, people: new People(deps) })
  return {
    lock: lockDirectory,
    createUser: (...asked) => users.createUser(...asked),
    replaceUser: (...asked) => users.replaceUser(...asked),
    removeUser: (...asked) => users.removeUser(...asked),
    user: (tx, userId) => users.user(tx, userId),
    ...createDirectoryGroups(deps),
    ...createDirectorySync({ ...deps, users }),
    async users(tx, query) {
      const { total, rows } = await queryUsers(tx, query)
      const shown = await shortPage(
        rows,
        (row) => row.user_id,
        (ids) => groupCounts(tx, ids, countLimit),
      )
      return { total, items: await withGroups(tx, shown) }
    },
    async groups(tx, query) {
      const { total, rows } = await queryGroups(tx, query)
      if (!query.withMembers) return { total, items: await groupResponses(tx, rows, false) }
      const shown = await shortPage(
        rows,
        (row) => row.group_id,
        (ids) => memberCounts(tx, ids, countLimit),
      )
      return { total, items: await groupResponses(tx, shown, true) }
    },
    counts: rosterCounts,
  }
}

/**
 * Returns a function that replaces the address of a removed person. The result recognises the same address when it
 * comes again, since a new account would readmit somebody who was shut out; the address cannot be read from it.
 */
export function createFormerAddressKey(key: Buffer): (tenantId: string, emailKey: string) => string {
  return (tenantId, emailKey) =>
    `former:${createHmac('sha256', key).update(`${tenantId}\0${emailKey}`).digest('base64url')}`
}

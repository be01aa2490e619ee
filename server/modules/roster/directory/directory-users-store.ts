import type { JsonValue } from '../../../../provenance/json.ts'
import { directoryLockClass } from '../../../db/advisory-locks.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { TenantTables } from '../../../db/schema.ts'
import { lockTenant } from '../../../db/tenant-lock.ts'
import { nameKey } from './directory-names.ts'
import type { DirectoryUserWrite, RosterCounts } from './directory-types.ts'

export interface DirectoryUserRow extends Omit<TenantTables['hub.directory_users'], 'tenant_id'> {
  /** Whether the person is active in the Hub; an administrator may have overridden the directory. */
  is_active: boolean
  attributes: DirectoryUserWrite['attributes']
}

/** SQL condition on `hub.directory_users d`; $1 is the tenant. */
export const isActiveSql =
  'exists (select from hub.users u where u.tenant_id = $1 and u.user_id = d.user_id and u.deactivated_at is null)'

export const userColumns =
  `d.user_id, d.user_name, d.user_name_key, d.external_id, d.active, ${isActiveSql} as is_active, d.attributes, ` +
  'd.revision, d.created_at, d.updated_at, d.seen_by'

/** Serialises changes of one tenant's directory, so that none is lost and no two deadlock. */
export async function lockDirectory(tx: TenantTx): Promise<void> {
  await lockTenant(tx, directoryLockClass)
}

export async function usersByIds(tx: TenantTx, userIds: readonly string[]): Promise<DirectoryUserRow[]> {
  const { rows } = await tx.client.query<DirectoryUserRow>(
    `select ${userColumns} from hub.directory_users d where d.tenant_id = $1 and d.user_id = any($2::text[])`,
    [tx.tenantId, userIds],
  )
  return rows
}

/** Returns the users with one of the names (in lower case) or external ids, oldest first. */
export async function usersKnownBy(
  tx: TenantTx,
  { nameKeys, externalIds }: { nameKeys: readonly string[]; externalIds: readonly string[] },
): Promise<DirectoryUserRow[]> {
  const { rows } = await tx.client.query<DirectoryUserRow>(
    `select ${userColumns} from hub.directory_users d
     where d.tenant_id = $1 and (d.user_name_key = any($2::text[]) or d.external_id = any($3::text[]))
     order by d.created_at, d.user_id`,
    [tx.tenantId, nameKeys, externalIds],
  )
  return rows
}

type UserWrite = DirectoryUserWrite & { userId: string }

export async function insertUsers(tx: TenantTx, users: readonly UserWrite[], now: string): Promise<void> {
  await tx.client.query(
    `insert into hub.directory_users (tenant_id, user_id, user_name, user_name_key, external_id, active, attributes,
       revision, created_at, updated_at)
     select $1, g.user_id, g.user_name, g.user_name_key, g.external_id, g.active, g.attributes::jsonb, 1,
       $8::timestamptz, $8::timestamptz
     from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::boolean[], $7::text[])
       as g (user_id, user_name, user_name_key, external_id, active, attributes)
     returning user_id`,
    [tx.tenantId, ...columnsOf(users), now],
  )
}

export async function updateUsers(tx: TenantTx, users: readonly UserWrite[], now: string): Promise<void> {
  await tx.client.query(
    `update hub.directory_users d
     set user_name = g.user_name, user_name_key = g.user_name_key, external_id = g.external_id, active = g.active,
       attributes = g.attributes::jsonb, revision = d.revision + 1, updated_at = $8::timestamptz
     from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::boolean[], $7::text[])
       as g (user_id, user_name, user_name_key, external_id, active, attributes)
     where d.tenant_id = $1 and d.user_id = g.user_id`,
    [tx.tenantId, ...columnsOf(users), now],
  )
}

/** Increments the revision of a user whose resource changed through another table. */
export async function touchUser(tx: TenantTx, userId: string, now: string): Promise<void> {
  await tx.client.query(
    `update hub.directory_users set revision = revision + 1, updated_at = $3::timestamptz
     where tenant_id = $1 and user_id = $2`,
    [tx.tenantId, userId, now],
  )
}

function columnsOf(users: readonly UserWrite[]): unknown[] {
  return [
    users.map(({ userId }) => userId),
    users.map(({ userName }) => userName),
    users.map(({ userName }) => nameKey(userName)),
    users.map(({ externalId }) => externalId),
    users.map(({ active }) => active),
    users.map(({ attributes }) => JSON.stringify(attributes)),
  ]
}

/** Frees user names for other people. The current owners get theirs from a later page. */
export async function freeUserNames(tx: TenantTx, userIds: readonly string[]): Promise<void> {
  await tx.client.query(
    `update hub.directory_users set user_name = user_id, user_name_key = user_id
     where tenant_id = $1 and user_id = any($2::text[])`,
    [tx.tenantId, userIds],
  )
}

export async function deleteUser(tx: TenantTx, userId: string): Promise<void> {
  await tx.client.query('delete from hub.directory_users where tenant_id = $1 and user_id = $2', [tx.tenantId, userId])
}

export async function markUsersSeen(tx: TenantTx, userIds: readonly string[], syncId: string): Promise<void> {
  await tx.client.query(
    `update hub.directory_users set seen_by = $3
     where tenant_id = $1 and user_id = any($2::text[]) and seen_by is distinct from $3`,
    [tx.tenantId, userIds, syncId],
  )
}

export async function countUnseen(tx: TenantTx, syncId: string): Promise<{ unseen: number; active: number }> {
  const { rows } = await tx.client.query<{ unseen: number; active: number }>(
    `select count(*) filter (where seen_by is distinct from $2)::int as unseen, count(*)::int as active
     from hub.directory_users where tenant_id = $1 and active`,
    [tx.tenantId, syncId],
  )
  return rows[0]!
}

export async function unseenUsers(
  tx: TenantTx,
  syncId: string,
  limit: number,
  except: readonly string[],
): Promise<DirectoryUserRow[]> {
  const { rows } = await tx.client.query<DirectoryUserRow>(
    `select ${userColumns} from hub.directory_users d
     where d.tenant_id = $1 and d.active and d.seen_by is distinct from $2 and d.user_id <> all($4::text[])
     order by d.created_at, d.user_id limit $3`,
    [tx.tenantId, syncId, limit, except],
  )
  return rows
}

/** Returns user ids by external id; the oldest user wins a duplicate. */
export async function userIdsOfExternal(tx: TenantTx, externalIds: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await tx.client.query<{ external_id: string; user_id: string }>(
    `select external_id, user_id from hub.directory_users
     where tenant_id = $1 and external_id = any($2::text[]) order by created_at desc, user_id desc`,
    [tx.tenantId, externalIds],
  )
  return new Map(rows.map((row) => [row.external_id, row.user_id]))
}

export async function knownUserIds(tx: TenantTx, userIds: readonly string[]): Promise<Set<string>> {
  const { rows } = await tx.client.query<{ user_id: string }>(
    'select user_id from hub.directory_users where tenant_id = $1 and user_id = any($2::text[])',
    [tx.tenantId, userIds],
  )
  return new Set(rows.map((row) => row.user_id))
}

export type NameInDirectory = Pick<DirectoryUserRow, 'user_id' | 'user_name' | 'external_id'> & {
  emails: JsonValue | null
}

/** Returns the names of these people in the directory; skips people it does not contain. */
export async function namesInDirectory(
  tx: TenantTx,
  userIds: readonly string[],
): Promise<Map<string, NameInDirectory>> {
  const { rows } = await tx.client.query<NameInDirectory>(
    `select user_id, user_name, external_id, attributes -> 'emails' as emails from hub.directory_users
     where tenant_id = $1 and user_id = any($2::text[])`,
    [tx.tenantId, userIds],
  )
  return new Map(rows.map((row) => [row.user_id, row]))
}

export async function rosterCounts(tx: TenantTx): Promise<RosterCounts> {
  const { rows } = await tx.client.query<RosterCounts>(
    `select count(*) filter (where p.in_directory or p.has_archetypes)::int as users,
       count(*) filter (where p.in_directory and not p.has_archetypes)::int as unmatched,
       (select count(*)::int from hub.directory_groups g where g.tenant_id = $1) as groups
     from (select d.user_id is not null as in_directory,
             exists (select from hub.user_archetypes a
                     where a.tenant_id = $1 and a.user_id = u.user_id) as has_archetypes
           from hub.users u left join hub.directory_users d on d.tenant_id = $1 and d.user_id = u.user_id
           where u.tenant_id = $1 and u.deactivated_at is null) p`,
    [tx.tenantId],
  )
  return rows[0]!
}

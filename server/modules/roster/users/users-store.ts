import { type Selectable, sql } from 'kysely'
import type { Static } from 'typebox'
import { emailKey } from '../../../../contract/email-address.ts'
import type { Role } from '../../../../contract/roles.ts'
import { rolesLockClass } from '../../../db/advisory-locks.ts'
import type { TenantTx } from '../../../db/database.ts'
import { userRows } from '../../../db/proven-rows.ts'
import type { TenantTables } from '../../../db/schema.ts'
import { lockTenant } from '../../../db/tenant-lock.ts'
import { findRow, updateRows } from '../../../db/tenant-rows.ts'
import { changeUsers } from './proven-users-store.ts'
import type { UsersQuery } from './users-schemas.ts'

export type UserRow = Omit<Selectable<TenantTables['hub.users']>, 'tenant_id' | 'archetypes_by_hand'>

const columns = [
  'user_id',
  'email',
  'email_key',
  'display_name',
  'role',
  'epoch',
  'created_at',
  'updated_at',
  'deactivated_at',
  'last_sign_in_at',
  'deactivated_by_hand',
  'proof',
] as const

/** Serialises changes of administrators, so that each sees how many the others left. */
export async function lockRoles(tx: TenantTx): Promise<void> {
  await lockTenant(tx, rolesLockClass)
}

/** Returns a user by id; undefined also for a row whose proof does not verify. */
export async function userById(tx: TenantTx, userId: string): Promise<UserRow | undefined> {
  const row = await findRow(tx, 'hub.users', columns, { user_id: userId })
  return tx.proofs.sound(userRows, tx.tenantId, row)
}

/** Returns the active user with an address; undefined also for a row whose proof does not verify. */
export async function activeUserAt(tx: TenantTx, key: string): Promise<UserRow | undefined> {
  const row = await tx.db
    .selectFrom('hub.users')
    .select(columns)
    .where('tenant_id', '=', tx.tenantId)
    .where('email_key', '=', key)
    .where('deactivated_at', 'is', null)
    .executeTakeFirst()
  return tx.proofs.sound(userRows, tx.tenantId, row)
}

/** Returns the ids of active administrators with a valid proof, oldest first. */
export async function activeAdministrators(tx: TenantTx): Promise<string[]> {
  const rows = await tx.db
    .selectFrom('hub.users')
    .select(columns)
    .where('tenant_id', '=', tx.tenantId)
    .where('role', '=', 'admin')
    .where('deactivated_at', 'is', null)
    .orderBy('created_at')
    .orderBy('user_id')
    .execute()
  return rows.filter((row) => tx.proofs.sound(userRows, tx.tenantId, row)).map((row) => row.user_id)
}

export async function hasActiveAdmin(tx: TenantTx, except?: string): Promise<boolean> {
  return (await activeAdministrators(tx)).some((userId) => userId !== except)
}

/** Inserts a user. Returns undefined if an active user has the address. */
export function insertUser(
  tx: TenantTx,
  user: Pick<UserRow, 'user_id' | 'email' | 'email_key' | 'display_name' | 'role'>,
  now: string,
): Promise<UserRow | undefined> {
  const row = { ...user, epoch: 1, deactivated_at: null, deactivated_by_hand: false }
  const proof = tx.proofs.of(userRows, tx.tenantId, row)
  return tx.db
    .insertInto('hub.users')
    .values({ tenant_id: tx.tenantId, ...row, created_at: now, updated_at: now, proof })
    .onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'email_key'])
        .where('deactivated_at', 'is', null)
        // Written out: PostgreSQL does not match a parameter with the condition of the index.
        .where(sql<boolean>`email_key <> ''`)
        .doNothing(),
    )
    .returning(columns)
    .executeTakeFirst()
}

/** Changes the role and raises the epoch, which ends live tokens of the old role. */
export function setRole(tx: TenantTx, userId: string, role: Role, now: string): Promise<UserRow> {
  return changeUsers(tx, [userId], (ids) =>
    tx.db
      .updateTable('hub.users')
      .set((eb) => ({ role, epoch: eb('epoch', '+', 1), updated_at: now }))
      .where('tenant_id', '=', tx.tenantId)
      .where('user_id', 'in', ids)
      .returning(columns)
      .executeTakeFirstOrThrow(),
  )
}

/**
 * Records the decision of a person, which the directory does not override. Raises the epoch, so that no token survives
 * a deactivation that is reverted.
 */
export function setDeactivated(tx: TenantTx, userId: string, at: string | null, now: string): Promise<UserRow> {
  return changeUsers(tx, [userId], (ids) =>
    tx.db
      .updateTable('hub.users')
      .set((eb) => ({
        deactivated_at: at,
        deactivated_by_hand: at !== null,
        epoch: eb('epoch', '+', 1),
        updated_at: now,
      }))
      .where('tenant_id', '=', tx.tenantId)
      .where('user_id', 'in', ids)
      .returning(columns)
      .executeTakeFirstOrThrow(),
  )
}

/** Marks an inactive user as deactivated by a person. Returns whether that changed. */
export async function keepDeactivated(tx: TenantTx, userId: string, now: string): Promise<boolean> {
  const updated = await changeUsers(tx, [userId], (ids) =>
    tx.db
      .updateTable('hub.users')
      .set({ deactivated_by_hand: true, updated_at: now })
      .where('tenant_id', '=', tx.tenantId)
      .where('user_id', 'in', ids)
      .where('deactivated_by_hand', '=', false)
      .returning('user_id')
      .executeTakeFirst(),
  )
  return updated !== undefined
}

export function setAddress(
  tx: TenantTx,
  userId: string,
  address: { email: string; emailKey: string },
  now: string,
): Promise<UserRow> {
  return changeUsers(tx, [userId], (ids) =>
    tx.db
      .updateTable('hub.users')
      .set({ email: address.email, email_key: address.emailKey, updated_at: now })
      .where('tenant_id', '=', tx.tenantId)
      .where('user_id', 'in', ids)
      .returning(columns)
      .executeTakeFirstOrThrow(),
  )
}

export async function setDisplayName(tx: TenantTx, userId: string, displayName: string, now: string): Promise<void> {
  await updateRows(tx, 'hub.users', { user_id: userId }, { display_name: displayName, updated_at: now })
}

/** Records the sign-in of an active user; returns false if the user is not active. */
export async function setLastSignIn(tx: TenantTx, userId: string, now: string): Promise<boolean> {
  const updated = await tx.db
    .updateTable('hub.users')
    .set({ last_sign_in_at: now })
    .where('tenant_id', '=', tx.tenantId)
    .where('user_id', '=', userId)
    .where('deactivated_at', 'is', null)
    .returning('user_id')
    .executeTakeFirst()
  return updated !== undefined
}

/** `created_at` and `user_id` of the last user of the previous page. */
export type UserPosition = readonly [createdAt: string, userId: string]

/** All conditions must hold. */
export type UserFilter = Omit<Static<typeof UsersQuery>, 'limit' | 'cursor'>

/** Returns the next users by age. The transaction must use `inIndexOrder`. */
export function usersAfter(
  tx: TenantTx,
  filter: UserFilter,
  after: UserPosition | undefined,
  count: number,
): Promise<UserRow[]> {
  const { role, active, email, search, group_id: groupId, archetype_id: archetypeId, matched } = filter
  const unmatched = sql<boolean>`(hub.users.deactivated_at is null
    and exists (select from hub.directory_users d where d.tenant_id = ${tx.tenantId} and d.user_id = hub.users.user_id)
    and not exists (select from hub.user_archetypes a
                    where a.tenant_id = ${tx.tenantId} and a.user_id = hub.users.user_id))`
  return tx.db
    .selectFrom('hub.users')
    .select(columns)
    .where('tenant_id', '=', tx.tenantId)
    .$if(role !== undefined, (query) => query.where('role', '=', role!))
    .$if(active !== undefined, (query) => query.where('deactivated_at', active ? 'is' : 'is not', null))
    .$if(email !== undefined, (query) => query.where('email_key', '=', emailKey(email!)))
    .$if(search !== undefined, (query) =>
      query.where(
        // lower() may change ASCII letters only. The second condition still finds text in the case of the name.
        sql<boolean>`(strpos(email_key, ${search!.toLowerCase()}) > 0 or strpos(display_name, ${search}) > 0
          or strpos(lower(display_name), ${search!.toLowerCase()}) > 0)`,
      ),
    )
    .$if(groupId !== undefined, (query) =>
      query.where(
        sql<boolean>`exists (select from hub.directory_members m where m.tenant_id = ${tx.tenantId}
          and m.group_id = ${groupId} and m.user_id = hub.users.user_id)`,
      ),
    )
    .$if(archetypeId !== undefined, (query) =>
      query.where(
        sql<boolean>`exists (select from hub.user_archetypes a where a.tenant_id = ${tx.tenantId}
          and a.archetype_id = ${archetypeId} and a.user_id = hub.users.user_id)`,
      ),
    )
    .$if(matched !== undefined, (query) => query.where(matched ? sql<boolean>`not ${unmatched}` : unmatched))
    .$if(after !== undefined, (query) =>
      query.where((eb) => eb(eb.refTuple('created_at', 'user_id'), '>', eb.tuple(after![0], after![1]))),
    )
    .orderBy('created_at')
    .orderBy('user_id')
    .limit(count)
    .execute()
}

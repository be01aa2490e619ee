import type { TenantTx } from '../../../db/database.ts'
import { userRows } from '../../../db/proven-rows.ts'
import { changeUsers } from '../users/proven-users-store.ts'
import type { UserRow } from '../users/users-store.ts'
import type { PersonDetails } from './directory-names.ts'

/** The directory's people in hub.users, in bulk. */

export type PersonRow = Pick<UserRow, 'user_id' | 'email' | 'email_key' | 'display_name' | 'role' | 'epoch'> & {
  deactivated_at: string | null
}

const columns = 'user_id, email, email_key, display_name, role, epoch, deactivated_at'

export async function peopleByIds(tx: TenantTx, userIds: readonly string[]): Promise<PersonRow[]> {
  const { rows } = await tx.client.query<PersonRow>(
    `select ${columns} from hub.users where tenant_id = $1 and user_id = any($2::text[]) order by created_at, user_id`,
    [tx.tenantId, userIds],
  )
  return rows
}

export type AddressOwner = Pick<PersonRow, 'user_id' | 'email_key' | 'display_name' | 'role'> & {
  in_directory: boolean
}

/** Returns the active people with these addresses, and whether the directory contains them. */
export async function activeOwners(tx: TenantTx, emailKeys: readonly string[]): Promise<Map<string, AddressOwner>> {
  const { rows } = await tx.client.query<AddressOwner>(
    `select u.user_id, u.email_key, u.display_name, u.role, d.user_id is not null as in_directory
     from hub.users u left join hub.directory_users d on d.tenant_id = $1 and d.user_id = u.user_id
     where u.tenant_id = $1 and u.email_key = any($2::text[]) and u.deactivated_at is null and u.email_key <> ''`,
    [tx.tenantId, emailKeys],
  )
  return new Map(rows.map((row) => [row.email_key, row]))
}

/** Returns the addresses whose last owner was deactivated by a person, not by the directory. */
export async function keysDeactivatedByHand(tx: TenantTx, emailKeys: readonly string[]): Promise<Set<string>> {
  const { rows } = await tx.client.query<{ email_key: string; deactivated_by_hand: boolean }>(
    `select distinct on (email_key) email_key, deactivated_by_hand from hub.users
     where tenant_id = $1 and email_key = any($2::text[]) and deactivated_at is not null and email_key <> ''
     order by email_key, created_at desc, user_id desc`,
    [tx.tenantId, emailKeys],
  )
  return new Set(rows.filter((row) => row.deactivated_by_hand).map((row) => row.email_key))
}

/** Inserts people and returns the inserted ids. Skips a person whose address an active person has got meanwhile. */
export async function insertPeople(
  tx: TenantTx,
  people: readonly (PersonDetails & { userId: string; active: boolean; byHand: boolean })[],
  now: string,
): Promise<Set<string>> {
  const { rows } = await tx.client.query<{ user_id: string }>(
    `insert into hub.users (tenant_id, user_id, email, email_key, display_name, role, epoch, created_at, updated_at,
       deactivated_at, deactivated_by_hand, proof)
     select $1, p.user_id, p.email, p.email_key, p.display_name, 'member', 1, $7::timestamptz, $7::timestamptz,
       case when p.active then null else $7::timestamptz end, p.by_hand, p.proof
     from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::boolean[], $8::boolean[],
       $9::bytea[])
       as p (user_id, email, email_key, display_name, active, by_hand, proof)
     on conflict (tenant_id, email_key) where deactivated_at is null and email_key <> '' do nothing
     returning user_id`,
    [
      tx.tenantId,
      people.map(({ userId }) => userId),
      people.map(({ email }) => email),
      people.map((person) => person.emailKey),
      people.map(({ displayName }) => displayName),
      people.map(({ active }) => active),
      now,
      people.map(({ byHand }) => byHand),
      people.map(({ userId, email, emailKey, active, byHand }) =>
        tx.proofs.of(userRows, tx.tenantId, {
          user_id: userId,
          email,
          email_key: emailKey,
          role: 'member',
          epoch: 1,
          deactivated_at: active ? null : now,
          deactivated_by_hand: byHand,
        }),
      ),
    ],
  )
  return new Set(rows.map((row) => row.user_id))
}

export async function updatePeople(
  tx: TenantTx,
  people: readonly (PersonDetails & { userId: string })[],
  now: string,
): Promise<void> {
  const userIds = people.map(({ userId }) => userId)
  await changeUsers(tx, userIds, (sound) =>
    tx.client.query(
      `update hub.users u
       set email = p.email, email_key = p.email_key, display_name = p.display_name, updated_at = $6::timestamptz
       from unnest($2::text[], $3::text[], $4::text[], $5::text[]) as p (user_id, email, email_key, display_name)
       where u.tenant_id = $1 and u.user_id = p.user_id and u.user_id = any($7::text[])`,
      [
        tx.tenantId,
        userIds,
        people.map(({ email }) => email),
        people.map((person) => person.emailKey),
        people.map(({ displayName }) => displayName),
        now,
        sound,
      ],
    ),
  )
}

export async function setDisplayNames(
  tx: TenantTx,
  people: readonly { userId: string; displayName: string }[],
  now: string,
): Promise<void> {
  await tx.client.query(
    `update hub.users u set display_name = p.display_name, updated_at = $4::timestamptz
     from unnest($2::text[], $3::text[]) as p (user_id, display_name)
     where u.tenant_id = $1 and u.user_id = p.user_id`,
    [tx.tenantId, people.map(({ userId }) => userId), people.map(({ displayName }) => displayName), now],
  )
}

/** Removes addresses, so that other people can have them in the same transaction. */
export async function releaseAddresses(tx: TenantTx, userIds: readonly string[]): Promise<void> {
  await changeUsers(tx, userIds, (sound) =>
    tx.client.query(
      `update hub.users set email = '', email_key = '' where tenant_id = $1 and user_id = any($2::text[])`,
      [tx.tenantId, sound],
    ),
  )
}

/** Deactivates people and returns those who were active. Raises their epochs, so no token survives. */
export async function deactivatePeople(tx: TenantTx, userIds: readonly string[], now: string): Promise<PersonRow[]> {
  const { rows } = await changeUsers(tx, userIds, (sound) =>
    tx.client.query<PersonRow>(
      `update hub.users set deactivated_at = $3::timestamptz, epoch = epoch + 1, updated_at = $3::timestamptz
     where tenant_id = $1 and user_id = any($2::text[]) and deactivated_at is null
     returning ${columns}`,
      [tx.tenantId, sound, now],
    ),
  )
  return rows
}

/** Reactivates people and returns those who were inactive. Skips people whom a person deactivated. */
export async function reactivatePeople(tx: TenantTx, userIds: readonly string[], now: string): Promise<PersonRow[]> {
  const { rows } = await changeUsers(tx, userIds, (sound) =>
    tx.client.query<PersonRow>(
      `update hub.users set deactivated_at = null, epoch = epoch + 1, updated_at = $3::timestamptz
     where tenant_id = $1 and user_id = any($2::text[]) and deactivated_at is not null
       and not deactivated_by_hand
     returning ${columns}`,
      [tx.tenantId, sound, now],
    ),
  )
  return rows
}

/** Erases a person except the id. A key that only the same address yields replaces the address. */
export async function erasePerson(tx: TenantTx, userId: string, formerKey: string): Promise<void> {
  await changeUsers(tx, [userId], (sound) =>
    tx.client.query(
      `update hub.users set email = '', email_key = $3, display_name = null where tenant_id = $1 and user_id = any($2)`,
      [tx.tenantId, sound, formerKey],
    ),
  )
}

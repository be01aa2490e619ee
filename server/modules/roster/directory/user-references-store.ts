import { emailKey } from '../../../../contract/email-address.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { ResolvedUser } from '../roster-types.ts'
import { isUserId } from '../users/user-changes.ts'
import { nameKey } from './directory-names.ts'
import { archetypesOf } from './user-archetypes-store.ts'

const prefix = 'user:'

interface Found {
  user_id: string
  email_key: string
  external_id: string | null
  user_name_key: string | null
  active: boolean
}

/** See `UserReferences` of roster-types. */
export async function resolveUsers(tx: TenantTx, references: readonly string[]): Promise<Map<string, ResolvedUser>> {
  const names = new Map(references.map((reference) => [reference, nameIn(reference)]))
  const found = await usersNamed(tx, [...new Set(names.values())])
  // Rows are sorted with active people first, so the first match wins among equal names of one kind.
  const byId = firstBy(found, (row) => row.user_id)
  const byEmail = firstBy(found, (row) => row.email_key)
  const byExternalId = firstBy(found.filter(mayGoByExternalId), (row) => row.external_id ?? '')
  const rows = new Map<string, Found>()
  for (const [reference, name] of names) {
    if (name === '') continue
    // The stronger kind of name wins, active or not: other people can have the same text as an external id.
    const row = byId.get(name) ?? (isUserId(name) ? undefined : (byEmail.get(emailKey(name)) ?? byExternalId.get(name)))
    if (row) rows.set(reference, row)
  }
  const archetypes = Map.groupBy(
    await archetypesOf(
      tx,
      [...rows.values()].map((row) => row.user_id),
    ),
    (row) => row.user_id,
  )
  return new Map(
    [...rows].map(([reference, { user_id: userId, active }]) => [
      reference,
      { userId, active, archetypeIds: (archetypes.get(userId) ?? []).map((row) => row.archetype_id) },
    ]),
  )
}

/**
 * Returns whether the external id may identify the person. External ids can be chosen freely, and some people choose
 * their own, so one that contains an @ must also be the person's user name.
 */
function mayGoByExternalId({ external_id: externalId, user_name_key: userNameKey }: Found): boolean {
  return externalId !== null && (!externalId.includes('@') || nameKey(externalId) === userNameKey)
}

function nameIn(reference: string): string {
  const name = reference.startsWith(prefix) ? reference.slice(prefix.length) : reference
  return name.includes('\0') ? '' : name
}

async function usersNamed(tx: TenantTx, names: readonly string[]): Promise<Found[]> {
  const { rows } = await tx.client.query<Found>(
    `select u.user_id, u.email_key, d.external_id, d.user_name_key, u.deactivated_at is null as active
     from hub.users u left join hub.directory_users d on d.tenant_id = $1 and d.user_id = u.user_id
     where u.tenant_id = $1 and u.user_id in (
       select n.user_id from hub.users n where n.tenant_id = $1 and n.user_id = any($2::text[])
       union select n.user_id from hub.users n
       where n.tenant_id = $1 and n.email_key = any($3::text[]) and n.email_key <> ''
       union select x.user_id from hub.directory_users x where x.tenant_id = $1 and x.external_id = any($2::text[]))
     order by active desc, u.updated_at desc, u.user_id`,
    [tx.tenantId, names, names.map(emailKey)],
  )
  return rows
}

function firstBy(rows: readonly Found[], keyOf: (row: Found) => string): Map<string, Found> {
  const found = new Map<string, Found>()
  for (const row of rows) if (!found.has(keyOf(row))) found.set(keyOf(row), row)
  return found
}

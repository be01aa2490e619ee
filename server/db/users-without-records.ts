import type { TenantTx } from './database.ts'

/**
 * Returns the users whose only stored records are those being erased. Their names must then be erased elsewhere too.
 *
 * @param userIds `user:…`
 */
export async function usersWithoutRecords(
  tx: TenantTx,
  userIds: readonly string[],
  erasedIds: readonly string[],
): Promise<string[]> {
  const { rows } = await tx.client.query<{ user_id: string }>(
    `select u.user_id from unnest($2::text[]) as u (user_id)
     where not exists (
       select from hub.records r
       where r.tenant_id = $1 and r.user_id = u.user_id and r.record_id <> all ($3::uuid[]))`,
    [tx.tenantId, userIds, erasedIds],
  )
  return rows.map((row) => row.user_id)
}

import type { TenantTx } from '../../../db/database.ts'
import type { RosterCounts } from './directory-types.ts'

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

import type { TenantTx } from '../../db/database.ts'
import type { ProvenRows } from '../../db/proven-rows.ts'
import type { Proven } from '../../db/row-proofs.ts'

/** Returns the next rows in key order, with the values that their proofs cover. */
export async function findProvenRows(
  tx: TenantTx,
  { table, columns, key, where = 'true', tenantColumn = 'tenant_id' }: ProvenRows<unknown>,
  after: string,
  count: number,
): Promise<Proven<{ key: string }>[]> {
  const { rows } = await tx.client.query<Proven<{ key: string }>>(
    `select ${columns()}, t.proof, ${key} as key from ${table} t
     where t.${tenantColumn} = $1 and ${key} > $2 and ${where} order by ${key} limit $3`,
    [tx.tenantId, after, count],
  )
  return rows
}

const eventsOfKind = (kind: 'connector.added' | 'tenant.config_changed') =>
  `(select record_id, canonical from hub.records
    where tenant_id = $1 and event_kind = '${kind}' and record_id > $2 order by record_id limit $3)`

/**
 * Returns the next changes of settings and new connectors, and whether each affects access. Requires a transaction of
 * `inIndexOrder`. Skips added members, because a directory adds thousands. Reads the index once per kind.
 */
export async function findAccessEvents(
  tx: TenantTx,
  after: string,
  count: number,
): Promise<{ record_id: string; is_of_access: boolean }[]> {
  const { rows } = await tx.client.query<{ record_id: string; is_of_access: boolean }>(
    `select record_id,
       canonical ~ '"change":"(user_(role|deactivated|reactivated)|service_account_(created|changed|disabled|secret_rotated)|sso(_removed)?|scim(_removed|_token_rotated)?|tenant)"'
         or (strpos(canonical, '"change":"user_created"') > 0 and strpos(canonical, '"role":"member"') = 0)
         or strpos(canonical, '"kind":"scim_idp"') > 0
         as is_of_access
     from (${eventsOfKind('connector.added')} union all ${eventsOfKind('tenant.config_changed')}) as event
     order by record_id limit $3`,
    [tx.tenantId, after, count],
  )
  return rows
}

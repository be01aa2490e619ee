import { scimPageLengthMax } from '../../../../contract/limits.ts'
import type { JsonObject } from '../../../../provenance/json.ts'
import type { TenantTx } from '../../../db/database.ts'
import { type AttributeTable, groupAttributes, userAttributes } from './directory-attributes.ts'
import { filterSql, sortSql } from './directory-filter.ts'
import { type DirectoryGroupRow, groupColumns } from './directory-groups-store.ts'
import type { DirectoryQuery } from './directory-types.ts'
import { type DirectoryUserRow, userColumns } from './directory-users-store.ts'

export function queryUsers(tx: TenantTx, query: DirectoryQuery): Promise<{ total: number; rows: DirectoryUserRow[] }> {
  return page<DirectoryUserRow>(tx, query, {
    attributes: userAttributes,
    columns: userColumns,
    from: 'hub.directory_users d where d.tenant_id = $1',
    order: 'd.created_at, d.user_id',
  })
}

export function queryGroups(
  tx: TenantTx,
  query: DirectoryQuery,
): Promise<{ total: number; rows: DirectoryGroupRow[] }> {
  return page<DirectoryGroupRow>(tx, query, {
    attributes: groupAttributes,
    columns: groupColumns,
    from: 'hub.directory_groups g where g.tenant_id = $1',
    order: 'g.created_at, g.group_id',
  })
}

/** Number of rows per fetch: each may have the maximum length of a resource. */
const fetchedAtOnce = 100

/** Returns a page, with fewer resources than requested if they are long (RFC 7644, section 3.4.2.4). */
async function page<Row extends { attributes: JsonObject }>(
  tx: TenantTx,
  { filter, sort, offset, count }: DirectoryQuery,
  table: { attributes: AttributeTable; columns: string; from: string; order: string },
): Promise<{ total: number; rows: Row[] }> {
  const values: unknown[] = [tx.tenantId]
  const condition = filter ? ` and ${filterSql(table.attributes, filter, values)}` : ''
  const from = `from ${table.from}${condition}`
  const counted = await tx.client.query<{ total: number }>(`select count(*)::int as total ${from}`, values)
  const total = counted.rows[0]!.total
  if (count === 0 || offset >= total) return { total, rows: [] }
  const wanted = sort && sortSql(table.attributes, sort)
  const order = wanted === undefined ? table.order : `${wanted}, ${table.order}`
  const rows: Row[] = []
  for (let length = 0; rows.length < count; ) {
    const limit = Math.min(fetchedAtOnce, count - rows.length)
    const part = await tx.client.query<Row>(
      `select ${table.columns} ${from} order by ${order} limit $${values.length + 1} offset $${values.length + 2}`,
      [...values, limit, offset + rows.length],
    )
    for (const row of part.rows) {
      length += JSON.stringify(row.attributes).length
      if (rows.length > 0 && length > scimPageLengthMax) return { total, rows }
      rows.push(row)
    }
    if (part.rows.length < limit) break
  }
  return { total, rows }
}

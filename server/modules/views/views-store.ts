import type { ViewPage } from '../../../contract/saved-views.ts'
import type { TenantTx } from '../../db/database.ts'
import type { ViewTables } from '../../db/tables/view-tables.ts'
import { deleteRows, findRow, insertRow, updateRows } from '../../db/tenant-rows.ts'

export type ViewRow = Omit<ViewTables['hub.saved_views'], 'tenant_id'>

const columns = [
  'view_id',
  'owner',
  'page',
  'name',
  'name_key',
  'query',
  'user_ids',
  'shared',
  'created_at',
  'updated_at',
] as const

/** `name_key` and `view_id` of the last view of the previous page. */
export type ViewPosition = readonly [nameKey: string, viewId: string]

/** Returns the owner's views and those that others share, by name in code point order. */
export async function viewsAfter(
  tx: TenantTx,
  wanted: { owner: string; page: ViewPage | undefined; after: ViewPosition | undefined; count: number },
): Promise<ViewRow[]> {
  const { owner, page, after, count } = wanted
  const parameters = [tx.tenantId, owner, count, ...(page === undefined ? [] : [page]), ...(after ?? [])]
  const ofPage = page === undefined ? '' : 'and page = $4'
  const [nameKey, viewId] = page === undefined ? ['$4', '$5'] : ['$5', '$6']
  const further = after
    ? `and (name_key collate "C" > ${nameKey} or (name_key = ${nameKey} and view_id collate "C" > ${viewId}))`
    : ''
  const { rows } = await tx.client.query<ViewRow>(
    `select ${columns.join(', ')} from hub.saved_views
     where tenant_id = $1 and (owner = $2 or shared) ${ofPage} ${further}
     order by name_key collate "C", view_id collate "C" limit $3`,
    parameters,
  )
  return rows
}

export async function viewById(tx: TenantTx, viewId: string): Promise<ViewRow | undefined> {
  return findRow(tx, 'hub.saved_views', columns, { view_id: viewId })
}

export async function viewNamed(
  tx: TenantTx,
  { owner, page, name }: Pick<ViewRow, 'owner' | 'page' | 'name'>,
): Promise<string | undefined> {
  const found = await findRow(tx, 'hub.saved_views', ['view_id'], { owner, page, name })
  return found?.view_id
}

export async function countOwn(tx: TenantTx, owner: string): Promise<number> {
  const { count } = await tx.db
    .selectFrom('hub.saved_views')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .where('tenant_id', '=', tx.tenantId)
    .where('owner', '=', owner)
    .executeTakeFirstOrThrow()
  return Number(count)
}

export async function countShared(tx: TenantTx): Promise<number> {
  const { count } = await tx.db
    .selectFrom('hub.saved_views')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .where('tenant_id', '=', tx.tenantId)
    .where('shared', '=', true)
    .executeTakeFirstOrThrow()
  return Number(count)
}

export async function insertView(tx: TenantTx, row: ViewRow): Promise<void> {
  await insertRow(tx, 'hub.saved_views', row)
}

export async function changeView(tx: TenantTx, { view_id, ...row }: ViewRow): Promise<void> {
  const { name, name_key, query, user_ids, shared, updated_at } = row
  await updateRows(tx, 'hub.saved_views', { view_id }, { name, name_key, query, user_ids, shared, updated_at })
}

export async function deleteView(tx: TenantTx, viewId: string): Promise<void> {
  await deleteRows(tx, 'hub.saved_views', { view_id: viewId })
}

/**
 * Deletes views that name any of the users.
 *
 * @param userIds `user:…`
 */
export async function deleteViewsNaming(tx: TenantTx, userIds: readonly string[]): Promise<void> {
  await tx.client.query('delete from hub.saved_views where tenant_id = $1 and user_ids && $2::text[]', [
    tx.tenantId,
    userIds,
  ])
}

import type { Selectable } from 'kysely'
import { connectorsLockClass } from '../../db/advisory-locks.ts'
import type { TenantTx } from '../../db/database.ts'
import type { TenantTables } from '../../db/schema.ts'
import { lockTenant } from '../../db/tenant-lock.ts'
import { insertRow, updateRows } from '../../db/tenant-rows.ts'

export type ConnectorRow = Omit<Selectable<TenantTables['hub.connectors']>, 'tenant_id'>

/** A connector with the state of its delivery. */
export interface ConnectorWithHealth extends ConnectorRow {
  attempted_at: string | null
  published_at: string | null
  etag: string | null
  failures: number | null
  error: unknown
  /** Current time of the database. */
  now: string
}

const columns = [
  'connector_id',
  'platform',
  'display_name',
  'delivery',
  'publish_url',
  'credentials_sealed',
  'created_at',
  'created_by',
  'updated_at',
  'removed_at',
] as const

const withHealth = `select ${columns.map((name) => `c.${name}`).join(', ')},
    d.attempted_at, d.published_at, d.etag, d.failures, d.error, now() as now
  from hub.connectors c
  left join hub.connector_deliveries d on d.tenant_id = $1 and d.connector_id = c.connector_id
  where c.tenant_id = $1`

/** Serialises changes of a tenant's connectors. */
export async function lockConnectors(tx: TenantTx): Promise<void> {
  await lockTenant(tx, connectorsLockClass)
}

export async function connectorById(tx: TenantTx, connectorId: string): Promise<ConnectorWithHealth | undefined> {
  const { rows } = await tx.client.query<ConnectorWithHealth>(`${withHealth} and c.connector_id = $2`, [
    tx.tenantId,
    connectorId,
  ])
  return rows[0]
}

export async function connectorNamed(
  tx: TenantTx,
  platform: string,
  displayName: string,
): Promise<ConnectorWithHealth | undefined> {
  const { rows } = await tx.client.query<ConnectorWithHealth>(
    `${withHealth} and c.platform = $2 and c.display_name = $3 and c.removed_at is null`,
    [tx.tenantId, platform, displayName],
  )
  return rows[0]
}

export async function allConnectors(tx: TenantTx): Promise<ConnectorWithHealth[]> {
  const { rows } = await tx.client.query<ConnectorWithHealth>(
    `${withHealth} and c.removed_at is null order by c.created_at, c.connector_id`,
    [tx.tenantId],
  )
  return rows
}

/** `created_at` and `connector_id` of the last connector of the previous page. */
export type ConnectorPosition = readonly [createdAt: string, connectorId: string]

export async function connectorsAfter(
  tx: TenantTx,
  after: ConnectorPosition | undefined,
  count: number,
): Promise<ConnectorWithHealth[]> {
  const further = after ? 'and (c.created_at, c.connector_id) > ($3, $4)' : ''
  const { rows } = await tx.client.query<ConnectorWithHealth>(
    `${withHealth} and c.removed_at is null ${further} order by c.created_at, c.connector_id limit $2`,
    [tx.tenantId, count, ...(after ?? [])],
  )
  return rows
}

export async function countConnectors(tx: TenantTx): Promise<number> {
  const { count } = await tx.db
    .selectFrom('hub.connectors')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .where('tenant_id', '=', tx.tenantId)
    .where('removed_at', 'is', null)
    .executeTakeFirstOrThrow()
  return Number(count)
}

export async function addConnector(tx: TenantTx, row: Omit<ConnectorRow, 'removed_at'>): Promise<void> {
  await insertRow(tx, 'hub.connectors', { ...row, removed_at: null })
}

export async function changeConnector(
  tx: TenantTx,
  row: Pick<
    ConnectorRow,
    'connector_id' | 'display_name' | 'delivery' | 'publish_url' | 'credentials_sealed' | 'updated_at'
  >,
): Promise<void> {
  const { connector_id, ...changes } = row
  await updateRows(tx, 'hub.connectors', { connector_id }, changes)
}

/** Marks a connector as removed and deletes its credentials. */
export async function setRemoved(tx: TenantTx, connectorId: string, now: string): Promise<void> {
  await updateRows(
    tx,
    'hub.connectors',
    { connector_id: connectorId },
    { credentials_sealed: null, removed_at: now, updated_at: now },
  )
}

import type { JsonValue } from '../../../provenance/json.ts'
import { connectorsLockClass } from '../../db/advisory-locks.ts'
import type { TenantTx } from '../../db/database.ts'
import { databaseTimes } from '../../db/database-time.ts'
import type { TenantTables } from '../../db/schema.ts'
import { lockTenant } from '../../db/tenant-lock.ts'
import { deleteRows, findRow } from '../../db/tenant-rows.ts'
import type { LeaseTable } from '../../delivery/target-leases.ts'
import type { DeliveryError } from './distribution-types.ts'

/** A connector to deliver to. */
export type TargetRow = Pick<
  TenantTables['hub.connectors'],
  'connector_id' | 'platform' | 'delivery' | 'publish_url' | 'credentials_sealed'
>

/** Serialises changes of a tenant's connectors and republish requests. */
export async function lockConnectors(tx: TenantTx): Promise<void> {
  await lockTenant(tx, connectorsLockClass)
}

/** Returns a connector; undefined if it does not exist or was removed. */
export async function targetById(
  tx: TenantTx,
  connectorId: string,
): Promise<(TargetRow & { state: JsonValue }) | undefined> {
  const { rows } = await tx.client.query<TargetRow & { state: JsonValue }>(
    `select c.connector_id, c.platform, c.delivery, c.publish_url, c.credentials_sealed, d.state
     from hub.connectors c
     left join hub.connector_deliveries d on d.tenant_id = $1 and d.connector_id = c.connector_id
     where c.tenant_id = $1 and c.connector_id = $2 and c.removed_at is null`,
    [tx.tenantId, connectorId],
  )
  return rows[0]
}

/** Returns every connector that is not removed. */
export async function targets(tx: TenantTx): Promise<Pick<TargetRow, 'connector_id' | 'delivery'>[]> {
  return tx.db
    .selectFrom('hub.connectors')
    .select(['connector_id', 'delivery'])
    .where('tenant_id', '=', tx.tenantId)
    .where('removed_at', 'is', null)
    .orderBy('created_at')
    .orderBy('connector_id')
    .execute()
}

/** The leases of connectors. A connector is ready for one when it is due and its receiver requested no pause. */
export const leaseTable: LeaseTable = {
  table: 'hub.connector_deliveries',
  ...{ id: 'connector_id', by: 'claimed_by', until: 'claimed_until' },
  ready: 'due_at <= $5 and (not_before is null or not_before <= $5)',
}

/** The next publish of a push connector. */
export interface Due {
  connector_id: string
  failures: number
  claimed_by: string | null
  /** Milliseconds until the lease ends. */
  claim_ms: number | null
  /** Milliseconds from now; negative if overdue. Respects a lease and the pause that the receiver requested. */
  wait_ms: number
}

/** Returns due times, longest overdue first, by the clock of the database like all times of deliveries. */
export async function dueTimes(tx: TenantTx): Promise<Due[]> {
  const { rows } = await tx.client.query<Due>(
    `select d.connector_id, d.failures, d.claimed_by,
       (extract(epoch from d.claimed_until - now()) * 1000)::float8 as claim_ms,
       (extract(epoch from greatest(d.due_at, d.claimed_until, d.not_before) - now()) * 1000)::float8 as wait_ms
     from hub.connector_deliveries d
     join hub.connectors c on c.tenant_id = $1 and c.connector_id = d.connector_id
     where d.tenant_id = $1 and c.delivery = 'push' and c.removed_at is null
     order by wait_ms, d.connector_id`,
    [tx.tenantId],
  )
  return rows
}

/** A connector that only this process publishes to, until the lease ends. */
export interface Claim extends TargetRow {
  claimed_by: string
  /** A different stored value later means that an earlier publish was requested. */
  due_at: string
  /** The due time after this publish; it counts from now, so that it does not drift with the work. */
  next_due_at: string
  failures: number
  state: JsonValue
}

/** Returns leased connectors. */
export async function claimsOf(tx: TenantTx, connectorIds: readonly string[], periodSeconds: number): Promise<Claim[]> {
  const { rows } = await tx.client.query<Claim>(
    `select c.connector_id, c.platform, c.delivery, c.publish_url, c.credentials_sealed,
       d.claimed_by, d.due_at, now() + make_interval(secs => $3) as next_due_at, d.failures, d.state
     from hub.connector_deliveries d
     join hub.connectors c on c.tenant_id = $1 and c.connector_id = d.connector_id
     where d.tenant_id = $1 and d.connector_id = any($2::text[]) and c.removed_at is null`,
    [tx.tenantId, connectorIds, periodSeconds],
  )
  return rows
}

type Claimed = Pick<Claim, 'connector_id' | 'claimed_by'>

export async function rememberState(tx: TenantTx, claim: Claimed, state: JsonValue): Promise<void> {
  await tx.client.query(
    `update hub.connector_deliveries set state = $4
     where tenant_id = $1 and connector_id = $2 and claimed_by = $3`,
    [tx.tenantId, claim.connector_id, claim.claimed_by, JSON.stringify(state)],
  )
}

/** Locks a claimed delivery and returns its due time; undefined if this process no longer holds the claim. */
export async function lockClaim(tx: TenantTx, claim: Claimed): Promise<string | undefined> {
  const { connector_id, claimed_by } = claim
  const row = await findRow(tx, 'hub.connector_deliveries', ['due_at'], { connector_id, claimed_by }, 'for update')
  return row?.due_at
}

/** Stores a success and releases the lease. */
export async function endPublished(
  tx: TenantTx,
  claim: Claimed,
  { etag, state, nextAt }: { etag: string; state: JsonValue; nextAt: string },
): Promise<void> {
  const [now] = await databaseTimes(tx)
  await tx.client.query(
    `update hub.connector_deliveries
     set claimed_by = null, claimed_until = null, not_before = null, attempted_at = $6, published_at = $6,
       etag = $4, failures = 0, error = null, state = $5, due_at = $7
     where tenant_id = $1 and connector_id = $2 and claimed_by = $3`,
    [tx.tenantId, claim.connector_id, claim.claimed_by, etag, JSON.stringify(state), now, nextAt],
  )
}

/**
 * Stores a failure and releases the lease. The retry follows after the pause or at `nextAt`, whichever is earlier, but
 * never within `notBeforeSeconds`.
 */
export async function endFailed(
  tx: TenantTx,
  claim: Claimed,
  failed: { error: DeliveryError & { at: string }; nextAt: string; pauseSeconds: number; notBeforeSeconds: number },
): Promise<void> {
  const times = await databaseTimes(tx, failed.pauseSeconds, failed.notBeforeSeconds)
  await tx.client.query(
    `update hub.connector_deliveries
     set claimed_by = null, claimed_until = null, attempted_at = $5, failures = failures + 1, error = $4,
       due_at = least($8::timestamptz, $6), not_before = $7
     where tenant_id = $1 and connector_id = $2 and claimed_by = $3`,
    [tx.tenantId, claim.connector_id, claim.claimed_by, JSON.stringify(failed.error), ...times, failed.nextAt],
  )
}

export async function addDelivery(tx: TenantTx, connectorId: string): Promise<void> {
  const [now] = await databaseTimes(tx)
  await tx.client.query(
    'insert into hub.connector_deliveries (tenant_id, connector_id, due_at, failures) values ($1, $2, $3, 0)',
    [tx.tenantId, connectorId, now],
  )
}

/** Makes a connector due at once. For another receiver, also deletes the state of the former one. */
export async function renewDelivery(tx: TenantTx, connectorId: string, otherReceiver: boolean): Promise<void> {
  const forgotten = 'claimed_by = null, claimed_until = null, published_at = null, attempted_at = null, etag = null,'
  const [now] = await databaseTimes(tx)
  await tx.client.query(
    `update hub.connector_deliveries
     set ${otherReceiver ? `${forgotten} failures = 0, error = null, state = null,` : ''}
       not_before = null, due_at = $3
     where tenant_id = $1 and connector_id = $2`,
    [tx.tenantId, connectorId, now],
  )
}

export async function removeDelivery(tx: TenantTx, connectorId: string): Promise<void> {
  await deleteRows(tx, 'hub.connector_deliveries', { connector_id: connectorId })
}

/** Makes every connector due at once. Respects pauses requested by receivers unless `insist` is set. */
export async function makeAllDue(tx: TenantTx, { insist = false } = {}): Promise<void> {
  const [now] = await databaseTimes(tx)
  await tx.client.query(
    `update hub.connector_deliveries set due_at = $2${insist ? ', not_before = null' : ''} where tenant_id = $1`,
    [tx.tenantId, now],
  )
}

/** Records that a connector fetched its manifest. */
export async function notePull(tx: TenantTx, connectorId: string, etag: string): Promise<void> {
  const [now] = await databaseTimes(tx)
  await tx.client.query(
    `update hub.connector_deliveries
     set attempted_at = $4, published_at = $4, etag = $3, failures = 0, error = null
     where tenant_id = $1 and connector_id = $2`,
    [tx.tenantId, connectorId, etag, now],
  )
}

/** Returns seconds since the last publish; undefined without one. */
export async function secondsSincePublish(tx: TenantTx, connectorId: string): Promise<number | undefined> {
  const { rows } = await tx.client.query<{ seconds: number | null }>(
    `select extract(epoch from now() - published_at)::float8 as seconds from hub.connector_deliveries
     where tenant_id = $1 and connector_id = $2`,
    [tx.tenantId, connectorId],
  )
  return rows[0]?.seconds ?? undefined
}

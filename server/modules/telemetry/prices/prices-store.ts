import { randomUUID } from 'node:crypto'
import { pricesLockClass } from '../../../db/advisory-locks.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { TenantTables } from '../../../db/schema.ts'
import { lockTenant } from '../../../db/tenant-lock.ts'
import { findRows } from '../../../db/tenant-rows.ts'
import type { PriceOverride } from './prices-schemas.ts'

type PriceRow = Omit<TenantTables['hub.price_overrides'], 'tenant_id' | 'override_id'>

/** Returns the tenant's own prices, by platform (those without one first), model and beginning. */
export async function allPrices(tx: TenantTx): Promise<PriceOverride[]> {
  const rows = await findRows(tx, 'hub.price_overrides', [
    'llm_platform',
    'llm_model',
    'effective_from',
    'effective_until',
    'input_usd_per_mtok',
    'output_usd_per_mtok',
  ])
  return inOrder(rows.map(overrideOf))
}

/**
 * Returns the newest governance events after a record that may concern prices, the newest first.
 *
 * @param after a record id
 */
export async function findPriceEvents(tx: TenantTx, after: string, count: number): Promise<string[]> {
  const { rows } = await tx.client.query<{ record_id: string }>(
    `select record_id from hub.records
     where tenant_id = $1 and event_kind = 'tenant.config_changed' and record_id > $2
       and strpos(canonical, '"change":"prices"') > 0 order by record_id desc limit $3`,
    [tx.tenantId, after, count],
  )
  return rows.map((row) => row.record_id)
}

/** Serialises replacements of one tenant's prices. */
export async function lockPrices(tx: TenantTx): Promise<void> {
  await lockTenant(tx, pricesLockClass)
}

export async function deletePrices(tx: TenantTx): Promise<void> {
  await tx.client.query('delete from hub.price_overrides where tenant_id = $1', [tx.tenantId])
}

export async function insertPrices(tx: TenantTx, prices: readonly PriceOverride[]): Promise<void> {
  await tx.client.query(
    `insert into hub.price_overrides (tenant_id, override_id, llm_platform, llm_model, effective_from, effective_until,
       input_usd_per_mtok, output_usd_per_mtok)
     select $1, given.*
     from unnest($2::uuid[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::numeric[], $8::numeric[])
       as given (override_id, llm_platform, llm_model, effective_from, effective_until, input_usd, output_usd)
     returning override_id`,
    [
      tx.tenantId,
      prices.map(() => randomUUID()),
      prices.map((price) => price.llm_platform ?? null),
      prices.map((price) => price.llm_model),
      prices.map((price) => price.effective_from),
      prices.map((price) => price.effective_until ?? null),
      prices.map((price) => String(price.input_usd_per_mtok)),
      prices.map((price) => String(price.output_usd_per_mtok)),
    ],
  )
}

/** Sorts prices here, because the order of the database depends on its collation. */
export function inOrder(prices: readonly PriceOverride[]): PriceOverride[] {
  const keyed = prices.map((price) => ({
    key: `${price.llm_platform ?? ''} ${price.llm_model} ${price.effective_from}`,
    price,
  }))
  keyed.sort((a, b) => (a.key < b.key ? -1 : 1))
  return keyed.map(({ price }) => price)
}

/** Converts a row. The stored text is the shortest decimal of a number, so the same number comes back. */
function overrideOf(row: PriceRow): PriceOverride {
  return {
    ...(row.llm_platform === null ? {} : { llm_platform: row.llm_platform }),
    llm_model: row.llm_model,
    input_usd_per_mtok: Number(row.input_usd_per_mtok),
    output_usd_per_mtok: Number(row.output_usd_per_mtok),
    effective_from: row.effective_from,
    ...(row.effective_until === null ? {} : { effective_until: row.effective_until }),
  }
}

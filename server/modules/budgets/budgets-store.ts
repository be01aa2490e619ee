import type { Selectable } from 'kysely'
import { emailKey } from '../../../contract/email-address.ts'
import type { TenantTx } from '../../db/database.ts'
import type { TenantTables } from '../../db/schema.ts'
import { deleteRows, findRow, insertRow, updateRows } from '../../db/tenant-rows.ts'
import type { BudgetSettings } from './budgets-schemas.ts'

export type BudgetRow = Omit<Selectable<TenantTables['hub.budgets']>, 'tenant_id' | 'filter'> & {
  filter: NonNullable<BudgetSettings['filter']>
}

/** The settings of a budget in their stored form. */
export type BudgetState = Omit<
  BudgetRow,
  'budget_id' | 'created_at' | 'created_by' | 'updated_at' | 'revision' | 'closed_at'
>

const columns = [
  'budget_id',
  'name',
  'filter',
  'period',
  'time_zone',
  'amount_micros',
  'basis',
  'thresholds',
  'emails',
  'webhook_ids',
  'created_at',
  'created_by',
  'updated_at',
  'revision',
  'closed_at',
] as const

/** `created_at` and `budget_id` of the last budget of the previous page. */
export type BudgetPosition = readonly [createdAt: string, budgetId: string]

/** Returns budgets, the oldest first. */
export async function budgetsAfter(
  tx: TenantTx,
  after: BudgetPosition | undefined,
  count: number,
): Promise<BudgetRow[]> {
  const further = after ? 'and (created_at, budget_id) > ($3, $4)' : ''
  const { rows } = await tx.client.query<BudgetRow>(
    `select ${columns.join(', ')} from hub.budgets
     where tenant_id = $1 ${further} order by created_at, budget_id limit $2`,
    [tx.tenantId, count, ...(after ?? [])],
  )
  return rows
}

export async function budgetById(tx: TenantTx, budgetId: string): Promise<BudgetRow | undefined> {
  return (await findRow(tx, 'hub.budgets', columns, { budget_id: budgetId })) as BudgetRow | undefined
}

/** Returns the revision of a budget, which cannot change until the transaction ends. Undefined if it is removed. */
export async function heldRevision(tx: TenantTx, budgetId: string): Promise<number | undefined> {
  const { rows } = await tx.client.query<Pick<BudgetRow, 'revision'>>(
    'select revision from hub.budgets where tenant_id = $1 and budget_id = $2 for share',
    [tx.tenantId, budgetId],
  )
  return rows[0]?.revision
}

export async function countBudgets(tx: TenantTx): Promise<number> {
  const { count } = await tx.db
    .selectFrom('hub.budgets')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .where('tenant_id', '=', tx.tenantId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

export async function insertBudget(tx: TenantTx, row: BudgetRow): Promise<void> {
  await insertRow(tx, 'hub.budgets', { ...row, filter: JSON.stringify(row.filter) })
}

export async function changeBudget(tx: TenantTx, { budget_id, ...row }: Omit<BudgetRow, 'closed_at'>): Promise<void> {
  await updateRows(tx, 'hub.budgets', { budget_id }, { ...row, filter: JSON.stringify(row.filter) })
}

/** Notes that ended periods of budgets were evaluated, except of budgets that changed since they were read. */
export async function closePeriods(tx: TenantTx, rows: readonly BudgetRow[], closedAt: string): Promise<void> {
  await tx.client.query(
    // Several processes may do so at once: all lock the rows in the same order.
    `with held as (
       select b.budget_id from hub.budgets b
       join unnest($2::text[], $3::bigint[]) as read (budget_id, revision) using (budget_id, revision)
       where b.tenant_id = $1 order by b.budget_id for update of b)
     update hub.budgets b set closed_at = $4 from held where b.tenant_id = $1 and b.budget_id = held.budget_id`,
    [tx.tenantId, rows.map(({ budget_id }) => budget_id), rows.map(({ revision }) => revision), closedAt],
  )
}

/** Deletes a budget and its firings. */
export async function deleteBudget(tx: TenantTx, budgetId: string): Promise<void> {
  await deleteRows(tx, 'hub.budgets', { budget_id: budgetId })
  await deleteRows(tx, 'hub.budget_firings', { budget_id: budgetId })
}

/** Returns those among the ids whose endpoints exist. */
export async function existingWebhooks(tx: TenantTx, webhookIds: readonly string[]): Promise<string[]> {
  const { rows } = await tx.client.query<{ webhook_id: string }>(
    `select webhook_id from hub.webhooks
     where tenant_id = $1 and webhook_id = any ($2::text[]) and removed_at is null`,
    [tx.tenantId, webhookIds],
  )
  return rows.map((row) => row.webhook_id)
}

/** Deletes budgets of any of the users, and removes the addresses of the users from the others. */
export async function eraseUsers(tx: TenantTx, userIds: readonly string[]): Promise<void> {
  await tx.client.query(
    `with gone as (
       delete from hub.budgets where tenant_id = $1 and filter ->> 'user_id' = any ($2::text[]) returning budget_id)
     delete from hub.budget_firings f using gone where f.tenant_id = $1 and f.budget_id = gone.budget_id`,
    [tx.tenantId, userIds],
  )
  const keys = new Set(userIds.map((userId) => emailKey(userId.replace(/^user:/, ''))))
  const { rows } = await tx.client.query<{ budget_id: string; emails: string[] }>(
    `select budget_id, emails from hub.budgets where tenant_id = $1 and emails <> '{}' order by budget_id for update`,
    [tx.tenantId],
  )
  for (const { budget_id, emails } of rows) {
    const kept = emails.filter((email) => !keys.has(emailKey(email)))
    if (kept.length === emails.length) continue
    await tx.client.query(
      'update hub.budgets set emails = $3, revision = revision + 1 where tenant_id = $1 and budget_id = $2',
      [tx.tenantId, budget_id, kept],
    )
  }
}

/** A threshold of a budget that was reported in a period. */
export type Firing = Pick<
  Selectable<TenantTables['hub.budget_firings']>,
  'budget_id' | 'period' | 'first_quarter' | 'threshold'
>

/** Returns the firings of budgets in periods that begin with a quarter or later. */
export async function firingsSince(
  tx: TenantTx,
  budgetIds: readonly string[],
  firstQuarter: number,
): Promise<Firing[]> {
  const { rows } = await tx.client.query<Firing>(
    `select budget_id, period, first_quarter, threshold from hub.budget_firings
     where tenant_id = $1 and budget_id = any ($2::text[]) and first_quarter >= $3`,
    [tx.tenantId, budgetIds, firstQuarter],
  )
  return rows
}

/** Inserts firings, and returns the thresholds among them that nobody had inserted before, ascending. */
export async function insertFirings(
  tx: TenantTx,
  { budget_id, period, first_quarter }: Omit<Firing, 'threshold'>,
  thresholds: readonly number[],
  spentMicros: bigint,
  firedAt: string,
): Promise<number[]> {
  const { rows } = await tx.client.query<Pick<Firing, 'threshold'>>(
    `insert into hub.budget_firings (tenant_id, budget_id, period, first_quarter, threshold, spent_micros, fired_at)
     select $1, $2, $3, $4, t, $6, $7 from unnest($5::bigint[]) as t
     on conflict (tenant_id, budget_id, period, first_quarter, threshold) do nothing
     returning threshold`,
    [tx.tenantId, budget_id, period, first_quarter, thresholds, String(spentMicros), firedAt],
  )
  return rows.map(({ threshold }) => threshold).sort((a, b) => a - b)
}

/** Returns a firing; undefined if its budget was removed. */
export async function firingOf(tx: TenantTx, { budget_id, period, first_quarter, threshold }: Firing) {
  return findRow(tx, 'hub.budget_firings', ['spent_micros', 'fired_at'], {
    ...{ budget_id, period, first_quarter, threshold },
  })
}

/** Deletes firings of a budget in periods that began before a quarter. */
export async function deleteFiringsBefore(tx: TenantTx, budgetId: string, firstQuarter: number): Promise<void> {
  await tx.client.query(
    'delete from hub.budget_firings where tenant_id = $1 and budget_id = $2 and first_quarter < $3',
    [tx.tenantId, budgetId, firstQuarter],
  )
}

/**
 * Counts mails that a tenant wants to send on a day, and returns how many of them are within the limit of that day. A
 * clock that is behind counts for the later day.
 *
 * @param day the day in UTC, such as 2026-01-05
 */
export async function takeMails(tx: TenantTx, day: string, wanted: number, limit: number): Promise<number> {
  const { rows } = await tx.client.query<{ mails: number }>(
    `insert into hub.budget_mail_counts (tenant_id, day, mails) values ($1, $2, $3)
     on conflict (tenant_id) do update set
       day = case when budget_mail_counts.day > excluded.day then budget_mail_counts.day else excluded.day end,
       mails = excluded.mails
         + case when budget_mail_counts.day >= excluded.day then budget_mail_counts.mails else 0 end
     returning mails`,
    [tx.tenantId, day, wanted],
  )
  const before = Number(rows[0]!.mails) - wanted
  return Math.min(Math.max(limit - before, 0), wanted)
}

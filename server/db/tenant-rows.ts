import type { Insertable, Kysely, Selectable, Updateable } from 'kysely'
import type { TenantTx } from './database.ts'
import type { TenantTables } from './schema.ts'

type Table = keyof TenantTables
type Row<T extends Table> = Selectable<TenantTables[T]>
/** The values that the rows must have in these columns. */
type Key<T extends Table> = Readonly<Partial<Omit<Row<T>, 'tenant_id'>>>

/** Returns the first row of the tenant with the key, or undefined. */
export async function findRow<T extends Table, const Column extends keyof Row<T> & string>(
  tx: TenantTx,
  table: T,
  columns: readonly Column[],
  key?: Key<T>,
  lock?: 'for update',
): Promise<Pick<Row<T>, Column> | undefined> {
  const query = withKey(untyped(tx).selectFrom(nameOf(table)).select(columns), tx, key)
  const row = await (lock ? query.forUpdate() : query).executeTakeFirst()
  return row as Pick<Row<T>, Column> | undefined
}

/** Returns the rows of the tenant with the key, in any order. */
export async function findRows<T extends Table, const Column extends keyof Row<T> & string>(
  tx: TenantTx,
  table: T,
  columns: readonly Column[],
  key?: Key<T>,
): Promise<Pick<Row<T>, Column>[]> {
  const rows = await withKey(untyped(tx).selectFrom(nameOf(table)).select(columns), tx, key).execute()
  return rows as Pick<Row<T>, Column>[]
}

/** Inserts a row of the tenant. */
export async function insertRow<T extends Table>(
  tx: TenantTx,
  table: T,
  row: Omit<Insertable<TenantTables[T]>, 'tenant_id'>,
): Promise<void> {
  await untyped(tx)
    .insertInto(nameOf(table))
    .values({ tenant_id: tx.tenantId, ...row })
    .execute()
}

/** Changes the rows of the tenant with the key. */
export async function updateRows<T extends Table>(
  tx: TenantTx,
  table: T,
  key: Key<T>,
  changes: Updateable<TenantTables[T]>,
): Promise<void> {
  await withKey(untyped(tx).updateTable(nameOf(table)).set(changes), tx, key).execute()
}

/** Deletes the rows of the tenant with the key. */
export async function deleteRows<T extends Table>(tx: TenantTx, table: T, key: Key<T>): Promise<void> {
  await withKey(untyped(tx).deleteFrom(nameOf(table)), tx, key).execute()
}

/** Kysely cannot resolve the columns of a table that is a type parameter, so all tables stand for one of any columns. */
function untyped(tx: TenantTx) {
  return tx.db as unknown as Kysely<{ rows: Record<string, unknown> }>
}

function nameOf(table: Table): 'rows' {
  return table as 'rows'
}

function withKey<Query extends { where(column: string, operator: '=', value: unknown): Query }>(
  query: Query,
  { tenantId }: TenantTx,
  key: object = {},
): Query {
  const ofTenant = query.where('tenant_id', '=', tenantId)
  return Object.entries(key).reduce((found, [column, value]) => found.where(column, '=', value), ofTenant)
}

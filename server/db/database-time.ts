import type { TenantTx } from './database.ts'

/**
 * Returns the start of the transaction, and the times this many seconds later, by the clock of the database, since
 * clocks of processes differ. Use them as parameters, because a distributed database accepts no time functions in
 * updates.
 */
export async function databaseTimes(tx: TenantTx, ...seconds: number[]): Promise<[now: string, ...later: string[]]> {
  const { rows } = await tx.client.query<{ at: string }>(
    'select now() + make_interval(secs => secs) as at from unnest($1::float8[]) with ordinality t(secs, n) order by n',
    [[0, ...seconds]],
  )
  return rows.map(({ at }) => at) as [string, ...string[]]
}

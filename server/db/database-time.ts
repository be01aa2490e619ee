import type { TenantTx } from './database.ts'

/**
 * When the transaction began, and times so many seconds later, by the clock of the database: those of processes differ
 * from it. For parameters, because a distributed database takes no functions of time in updates.
 */
export async function databaseTimes(tx: TenantTx, ...seconds: number[]): Promise<[now: string, ...later: string[]]> {
  const { rows } = await tx.client.query<{ at: string }>(
    'select now() + make_interval(secs => secs) as at from unnest($1::float8[]) with ordinality t(secs, n) order by n',
    [[0, ...seconds]],
  )
  return rows.map(({ at }) => at) as [string, ...string[]]
}

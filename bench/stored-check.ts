import type { OpenedDatabase } from '../server/db/open-database.ts'

const idsPerQuery = 10_000

/** How many of the records are not in the store. */
export async function countMissing(
  database: OpenedDatabase,
  tenantId: string,
  recordIds: readonly string[],
): Promise<number> {
  let missing = 0
  for (let at = 0; at < recordIds.length; at += idsPerQuery) {
    const ids = recordIds.slice(at, at + idsPerQuery)
    const found = await database.withTenant(tenantId, async (tx) => {
      const { rows } = await tx.client.query<{ found: number }>(
        `select count(*)::int as found from hub.records where tenant_id = $1 and record_id = any($2::uuid[])`,
        [tenantId, ids],
      )
      return rows[0]!.found
    })
    missing += ids.length - found
  }
  return missing
}

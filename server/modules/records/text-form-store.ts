import { type Database, readTenant } from '../../db/database.ts'

/** Milliseconds between two questions while texts are stored in full. */
const questionMs = 60_000

/**
 * Returns a function that tells whether ingest may store short texts: no process of a version that cannot read them runs
 * any more (see migration 0028). It asks the database once a minute until it may, and then no more.
 */
export function createTextForm(database: Database, now = Date.now): (tenantId: string) => Promise<boolean> {
  let isShort = false
  let askedAt = Number.NEGATIVE_INFINITY
  let asking: Promise<boolean> | undefined

  async function ask(tenantId: string): Promise<boolean> {
    isShort = await readTenant(database, tenantId, async (tx) => {
      const { rows } = await tx.client.query<{ is_short: boolean }>('select hub.short_texts() as is_short')
      return rows[0]!.is_short
    })
    askedAt = now()
    return isShort
  }

  return async (tenantId) => {
    if (isShort || now() - askedAt < questionMs) return isShort
    asking ??= ask(tenantId).finally(() => {
      asking = undefined
    })
    return asking
  }
}

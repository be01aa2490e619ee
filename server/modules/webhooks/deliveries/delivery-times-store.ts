import type { TenantTx } from '../../../db/database.ts'

/**
 * Processes assign consecutive sequences. Their clocks differ by less than this, and they wait less than this between
 * reading the clock and taking a sequence.
 */
const disorder = `interval '30 seconds'`

/** A range of sequences that contains all deliveries of a period, and a few just before and after it. */
export interface SequenceRange {
  from: number | undefined
  below: number | undefined
}

/**
 * Returns the sequences of a period.
 *
 * @param times RFC 3339, as `created_at`; from ≤ created_at < before
 */
export async function sequencesOf(
  tx: TenantTx,
  webhookId: string,
  times: { from?: string | undefined; before?: string | undefined },
): Promise<SequenceRange> {
  const { from, before } = times
  return {
    from: from === undefined ? undefined : await firstSince(tx, webhookId, from, '-'),
    below: before === undefined ? undefined : await firstSince(tx, webhookId, before, '+'),
  }
}

/**
 * Returns the first sequence since a time, or the one after all. It searches by halving, so it reads about twenty rows
 * of a million. Undefined without deliveries.
 */
async function firstSince(tx: TenantTx, webhookId: string, time: string, sign: '+' | '-'): Promise<number | undefined> {
  const { rows } = await tx.client.query<{ low: number | null }>(
    `with recursive search (low, high) as (
       select
         (select sequence from hub.webhook_deliveries
          where tenant_id = $1 and webhook_id = $2 order by sequence limit 1),
         (select sequence + 1 from hub.webhook_deliveries
          where tenant_id = $1 and webhook_id = $2 order by sequence desc limit 1)
       union all
       select
         case when middle.is_earlier then middle.sequence + 1 else low end,
         case when middle.is_earlier then high else (low + high) / 2 end
       from search, lateral (
         select sequence, created_at < $3::timestamptz ${sign} ${disorder} as is_earlier from hub.webhook_deliveries
         where tenant_id = $1 and webhook_id = $2 and sequence >= (low + high) / 2 order by sequence limit 1) middle
       where low < high
     ) select low from search where low >= high`,
    [tx.tenantId, webhookId, time],
  )
  return rows[0]?.low ?? undefined
}

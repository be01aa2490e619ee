import type { RecordType } from '../../../contract/literals.ts'
import type { TenantTx } from '../../db/database.ts'

export type Direction = 'both' | 'out' | 'in'

export interface Edge {
  /** The record that names the other. */
  from: string
  to: string
}

interface Step {
  /** The records reached last. */
  frontier: readonly string[]
  /** All records reached so far. */
  visited: readonly string[]
  direction: Direction
  /** The types that the caller may see; all if undefined. */
  recordTypes: readonly RecordType[] | undefined
  limit: number
}

/**
 * Returns ids one hop away from the frontier, in id order, at most `limit`. Skips purged records, so the walk does not
 * pass through them either. The limit also applies to each record of the frontier, so that one with a million links
 * costs no more than its share.
 */
export async function findNeighbours(tx: TenantTx, step: Step): Promise<string[]> {
  const directions = step.direction === 'both' ? (['out', 'in'] as const) : [step.direction]
  const found = new Set<string>()
  for (const direction of directions) {
    const values = [tx.tenantId, step.frontier, step.visited, step.recordTypes ?? null, step.limit]
    const { rows } = await tx.client.query<{ record_id: string }>(neighboursSql[direction], values)
    for (const row of rows) found.add(row.record_id)
  }
  return [...found].sort().slice(0, step.limit)
}

const neighboursSql = { out: neighboursOver('from_id', 'to_id'), in: neighboursOver('to_id', 'from_id') }

/** OFFSET makes both joins look-ups, regardless of the planner's statistics about the tenant. */
function neighboursOver(near: 'from_id' | 'to_id', far: 'from_id' | 'to_id'): string {
  return `
    select distinct n.record_id
    from unnest($2::uuid[]) f(record_id)
    cross join lateral (
      select r.record_id
      from hub.record_links l
      cross join lateral (
        select record_id, record_type from hub.records where tenant_id = $1 and record_id = l.${far} offset 0
      ) r
      left join lateral (
        select purged_at from hub.record_states where tenant_id = $1 and record_id = l.${far} offset 0
      ) s on true
      where l.tenant_id = $1 and l.${near} = f.record_id
        and s.purged_at is null
        and l.${far} <> all($3::uuid[])
        and ($4::text[] is null or r.record_type = any($4::text[]))
      order by l.${far}
      limit $5
    ) n
    order by n.record_id
    limit $5`
}

/** Returns the links among the records. */
export async function findEdges(tx: TenantTx, recordIds: readonly string[]): Promise<Edge[]> {
  const { rows } = await tx.client.query<Edge>(
    `select from_id as "from", to_id as "to" from hub.record_links
     where tenant_id = $1 and from_id = any($2::uuid[]) and to_id = any($2::uuid[])
     order by from_id, to_id`,
    [tx.tenantId, recordIds],
  )
  return rows
}

import type { TenantTx } from '../../db/database.ts'
import type { ErasedRecord } from '../erasure/erasure-types.ts'
import type { ExportExpiry } from './exports-types.ts'

interface Life {
  createdAt: string
  purgedAt: string
}

/** Expires the exports that may contain an erased record, because they were made during its life. */
export async function forgetInExports(
  tx: TenantTx,
  expiry: ExportExpiry,
  records: readonly ErasedRecord[],
): Promise<void> {
  for (const life of together(records.map(lifeOf))) await expiry.expireHolding(tx, life)
}

/** Expires every export of a tenant whose key is destroyed. */
export async function forgetAllExports(tx: TenantTx, expiry: ExportExpiry, at: string): Promise<void> {
  const always = { createdAt: beforeAll, purgedAt: at }
  await expiry.expireHolding(tx, always, 'The key of the tenant was destroyed, and its content with it.')
}

const beforeAll = '0001-01-01T00:00:00.000000Z'

function lifeOf({ created_at, purged_at }: ErasedRecord): Life {
  return { createdAt: created_at ?? beforeAll, purgedAt: purged_at }
}

/** Merges overlapping periods: records that are erased together mostly lived at the same time. */
function together(lives: readonly Life[]): Life[] {
  const merged: Life[] = []
  for (const life of [...lives].sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1))) {
    const last = merged.at(-1)
    if (last === undefined || life.createdAt > last.purgedAt) merged.push({ ...life })
    else if (life.purgedAt > last.purgedAt) last.purgedAt = life.purgedAt
  }
  return merged
}

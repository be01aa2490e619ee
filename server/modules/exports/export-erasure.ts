import type { ErasedRecord, ErasureParticipant } from '../erasure/erasure-types.ts'
import type { ExportExpiry } from './exports-types.ts'

interface Life {
  createdAt: string
  purgedAt: string
}

/** Expires the exports that may contain an erased record, because they were made during its life. */
export function createExportErasure(expiry: ExportExpiry): ErasureParticipant {
  return {
    name: 'exports',
    async forget(tx, records) {
      for (const life of together(records.map(lifeOf))) await expiry.expireHolding(tx, life)
    },
  }
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

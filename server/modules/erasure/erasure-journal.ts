import { randomUUID } from 'node:crypto'
import { text } from 'node:stream/consumers'
import type { Storage } from '../../storage/storage.ts'
import type { ErasureJournal, JournaledErasure } from './erasure-types.ts'

/**
 * Stores the erasure journal in object storage beside the exports, so that a restored database does not bring back
 * erased records. Every part of a run is one object with one JSON erasure per line. No object is ever rewritten.
 */
export function createErasureJournal(storage: Storage): ErasureJournal {
  async function* linesOf(key: string): AsyncIterable<string> {
    const file = await storage.read(key)
    if (file === undefined) throw new Error(`the erasure journal ${key} in ${storage.place} is missing`)
    for (const line of (await text(file)).split('\n')) if (line !== '') yield line
  }

  return {
    async keep(erasures) {
      for (const [tenant, own] of Map.groupBy(erasures, (erasure) => erasure.tenant)) {
        const lines = own.map((erasure) => `${JSON.stringify(erasure)}\n`).join('')
        await storage.write(keyOf(tenant, own[0]!.erased_at), Buffer.from(lines))
      }
    },

    async *read(tenant) {
      for await (const key of storage.list(`erasures/${tenant}/`)) {
        if (!key.endsWith('.jsonl')) continue
        for await (const line of linesOf(key)) yield erasureIn(line, tenant, key)
      }
    },
  }
}

/** Returns a key that sorts by time, for operators who list the folder. */
function keyOf(tenant: string, erasedAt: string): string {
  return `erasures/${tenant}/${erasedAt.replaceAll(/[-:.]/g, '')}-${randomUUID()}.jsonl`
}

const members = ['tenant', 'record_id', 'purged_at', 'purged_by', 'purge_reason', 'erased_at'] as const

function erasureIn(line: string, tenant: string, key: string): JournaledErasure {
  let value: Partial<JournaledErasure> | null
  try {
    value = JSON.parse(line) as Partial<JournaledErasure> | null
  } catch {
    value = null
  }
  if (value?.tenant !== tenant || members.some((member) => typeof value[member] !== 'string')) {
    throw new Error(`the erasure journal ${key} has a line that is not an erasure of ${tenant}: it was changed`)
  }
  return value as JournaledErasure
}

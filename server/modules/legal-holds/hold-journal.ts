import { text } from 'node:stream/consumers'
import type { Storage } from '../../storage/storage.ts'
import type { HoldJournal, JournaledHold, JournaledHoldRelease } from './hold-journal-types.ts'

const endSuffix = '.ended.json'

/**
 * Creates a hold journal in object storage, beside the erasure journal: one object per hold, and one for its release.
 */
export function createHoldJournal(storage: Storage): HoldJournal {
  const write = (key: string, value: object) => storage.write(key, Buffer.from(`${JSON.stringify(value)}\n`))

  async function read<Kept extends { tenant: string; hold_id: string }>(
    key: string,
    tenant: string,
    members: readonly (keyof Kept)[],
  ): Promise<Kept | undefined> {
    const file = await storage.read(key)
    if (file === undefined) return undefined
    const kept = parsed(await text(file)) as Partial<Kept> | undefined
    const isWhole = kept?.tenant === tenant && members.every((member) => typeof kept[member] === 'string')
    if (isWhole && kept.hold_id !== undefined && key.startsWith(keyOf({ tenant, hold_id: kept.hold_id }))) {
      return kept as Kept
    }
    throw new Error(
      `${key} in ${storage.place} is not the stored entry about a legal hold of ${tenant}: it was changed`,
    )
  }

  return {
    keep: (hold) => write(`${keyOf(hold)}.json`, hold),
    keepEnd: (end) => write(`${keyOf(end)}${endSuffix}`, end),
    async *read(tenant) {
      for await (const key of storage.list(`holds/${tenant}/`)) {
        if (!key.endsWith('.json') || key.endsWith(endSuffix)) continue
        const hold = await read<JournaledHold>(key, tenant, ['hold_id', 'name', 'reason', 'created_at', 'created_by'])
        if (hold === undefined) continue
        const ended = ['hold_id', 'released_at', 'released_by', 'release_reason'] as const
        yield { hold, end: await read<JournaledHoldRelease>(`${keyOf(hold)}${endSuffix}`, tenant, ended) }
      }
    },
  }
}

function keyOf({ tenant, hold_id }: { tenant: string; hold_id: string }): string {
  return `holds/${tenant}/${hold_id}`
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

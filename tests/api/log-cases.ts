import { expect } from 'vitest'
import { fromBase64 } from '../../provenance/bytes.ts'
import { type KeyRing, parseKeyDocument, parseNote, verifyNoteSync } from '../../provenance/index.ts'
import { nodeCrypto } from '../../server/records/node-crypto.ts'
import type { CallOptions, TestHub, TestTenant } from '../support/hub.ts'

export const logPath = '/api/v1/hub/log'
/** What may not read records at all. */
export const noReader = ['hub:write', 'hub:purge', 'telemetry:write', 'roster:read'] as const

/** A call that must succeed; answers its body. */
export async function get(hub: TestHub, path: string, options: CallOptions = {}, tenant: TestTenant = 'acme') {
  const answer = await hub.call(tenant, 'GET', path, options)
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}

export const checkpointOf = (hub: TestHub, tenant: TestTenant = 'acme') => get(hub, `${logPath}/checkpoint`, {}, tenant)

export async function publishedKeys(hub: TestHub): Promise<KeyRing> {
  return parseKeyDocument((await get(hub, '/.well-known/provenance-keys.json')) as never, nodeCrypto.sha256)
}

/** Whether a published key of that log signed the note. */
export async function isSigned(hub: TestHub, note: string, logName: string): Promise<boolean> {
  const keys = [...(await publishedKeys(hub)).values()].filter((key) => key.name === logName)
  return verifyNoteSync(parseNote(note), keys, nodeCrypto)
}

export const hashes = (path: string[]) => path.map(fromBase64)

/** Everything that the feed has behind a position, in pages of `limit`. */
export async function follow(hub: TestHub, after = 0, limit = 1000, options: CallOptions = {}) {
  // biome-ignore lint/suspicious/noExplicitAny: items of an answer
  const items: any[] = []
  for (let pages = 0; pages < 10_000; pages++) {
    const page = await get(hub, `${logPath}/entries?after=${after}&limit=${limit}`, options)
    expect(page.items.length).toBeLessThanOrEqual(limit)
    for (const { position } of page.items) expect(position).toBeLessThanOrEqual(page.last_position)
    items.push(...page.items)
    if (page.next_cursor === null) return { items, lastPosition: page.last_position as number }
    expect(page.last_position).toBeGreaterThan(after)
    after = page.last_position
  }
  throw new Error('the feed does not end')
}

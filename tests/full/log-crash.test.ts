import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import {
  merkleRoot,
  parseCheckpoint,
  parseKeyDocument,
  parseNote,
  verifyConsistency,
  verifyNoteSync,
} from '../../provenance/index.ts'
import { HubClient } from '../../sdk/typescript/src/index.ts'
import { loadConfig } from '../../server/config.ts'
import type { TenantTx } from '../../server/db/database.ts'
import { openDatabase } from '../../server/db/open-database.ts'
import { findEntries, findHead } from '../../server/modules/log/log-store.ts'
import { readConsistency, readLeaves } from '../../server/modules/log/tree-reading.ts'
import { nodeCrypto } from '../../server/records/node-crypto.ts'
import { freshDataDirectory, removeDataDirectories } from '../support/data-directory.ts'
import { reportFault } from '../support/guarantees.ts'
import { type HubProcess, hubCommand, makeTenant, startHubProcess } from '../support/hub-process.ts'
import { testLength } from '../support/test-length.ts'
import { event } from '../telemetry/events.ts'

const rounds = testLength({ short: 2, long: 20 })
const { sha256 } = nodeCrypto

let hub: HubProcess | undefined
afterAll(async () => {
  await hub?.stop()
  await removeDataDirectories()
})

test(`kill -9 of everything while seals are taken into the log, ${rounds} times`, async () => {
  const dataDir = await freshDataDirectory()
  hub = await startHubProcess(dataDir, { HUB_LIMIT_FACTOR: '1000' })
  const credentials = await makeTenant(dataDir, 'acme')
  const connect = (running: HubProcess) => new HubClient({ baseUrl: running.url, ...credentials })
  await connect(hub).post('/api/v1/hub/records', {
    body: { record_type: 'skill_definition', skill_id: 'sum-up', skill_version: '1.0.0', name: 'Sum up' },
  })

  /** Every record that was acknowledged, and every state of the log that was answered. */
  const acknowledged = new Set<string>()
  const checkpoints: string[] = []
  let integrated = 0
  for (let round = 0; round < rounds; round += 1) {
    const killing = new AbortController()
    const load = loadUntil(killing.signal, connect(hub), acknowledged, checkpoints)
    await Promise.race([delay(500 + Math.random() * 1500), load])
    killing.abort()
    await hub.killEverything()
    await load
    integrated += (await inSnapshot(dataDir, expectWhole)).size
    hub = await startHubProcess(dataDir, { HUB_LIMIT_FACTOR: '1000' })
  }
  expect(integrated).toBeGreaterThan(0)
  expect(checkpoints.length).toBeGreaterThan(rounds)

  // What the crashes left is taken in by the service itself.
  await expect.poll(async () => (await inSnapshot(dataDir, expectWhole)).waiting, { interval: 500 }).toBe(0)
  const { seals, size } = await inSnapshot(dataDir, expectWhole)
  expect(size).toBe(seals)

  const keys = parseKeyDocument(
    (await (await fetch(`${hub.url}/.well-known/provenance-keys.json`)).json()) as never,
    sha256,
  )
  await inSnapshot(dataDir, async (tx) => {
    const head = (await findHead(tx))!
    for (const checkpoint of checkpoints) {
      // Nothing that was ever answered was taken back.
      const { treeSize, root } = parseCheckpoint(checkpoint)
      expect(verifyNoteSync(parseNote(checkpoint), [...keys.values()], nodeCrypto)).toBe(true)
      const { path } = await readConsistency(tx, treeSize, head.treeSize)
      const sizes = { firstSize: treeSize, secondSize: head.treeSize }
      expect(verifyConsistency({ ...sizes, firstRoot: root, secondRoot: head.root, path }, sha256)).toBe(true)
    }
  })

  const followed = new Map<string, number>()
  for (let after = 0, more = true; more; ) {
    const path = `/api/v1/hub/log/entries?after=${after}&limit=1000`
    const page = (await connect(hub).get(path)) as {
      items: { record_id: string }[]
      next_cursor: string | null
      last_position: number
    }
    for (const { record_id: id } of page.items) followed.set(id, (followed.get(id) ?? 0) + 1)
    after = page.last_position
    more = page.next_cursor !== null
  }
  for (const id of acknowledged) expect(followed.get(id)).toBe(1)
  expect(new Set(followed.values())).toEqual(new Set([1]))
  await reportFault({
    fault: 'Hub and database killed while the log is integrated',
    acknowledged,
    found: [...followed].flatMap(([id, count]) => Array.from({ length: count }, () => id)),
  })
  const { tenants } = await hubCommand<{ tenants: { added: number }[] }>(
    dataDir,
    ...['jobs', 'run', 'integrate-log', '--tenant', 'acme'],
  )
  expect(tenants).toMatchObject([{ added: 0 }])
})

/** Writes and asks for the state of the log. Only after the signal may a request fail. */
async function loadUntil(
  signal: AbortSignal,
  client: HubClient,
  acknowledged: Set<string>,
  checkpoints: string[],
): Promise<void> {
  async function work(pauseMs: number, call: () => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      try {
        await call()
      } catch (error) {
        if (!signal.aborted) throw error
      }
      await delay(pauseMs)
    }
  }
  const batch = async () => {
    const events = Array.from({ length: 70 }, () => event())
    const answer = await client.post('/api/v1/telemetry/events:batch', { body: { events } })
    for (const { record_id } of (answer as { records: { record_id: string }[] }).records) acknowledged.add(record_id)
  }
  const single = async () => {
    const answer = await client.post('/api/v1/telemetry/events', { body: event() })
    acknowledged.add((answer as { record_id: string }).record_id)
  }
  const look = async () => {
    const answer = await client.get('/api/v1/hub/log/checkpoint')
    checkpoints.push((answer as { checkpoint: string }).checkpoint)
  }
  await Promise.all([work(5, batch), work(5, batch), work(1, single), work(1, single), work(100, look)])
}

/** No gap, no seal twice, no seal that is neither in the log nor waiting, and the root of all leaves. */
async function expectWhole(tx: TenantTx) {
  const head = await findHead(tx)
  const size = head?.treeSize ?? 0
  const entries = await findEntries(tx, 0, 10_000_000)
  expect(entries.map((entry) => entry.logIndex)).toEqual(Array.from({ length: size }, (_, i) => i))
  const entered = entries.map((entry) => entry.sealId)
  const { rows: seals } = await tx.client.query('select seal_id from hub.seals where tenant_id = $1', ['acme'])
  const { rows: arrivals } = await tx.client.query('select seal_ids from hub.seal_arrivals where tenant_id = $1', [
    'acme',
  ])
  const waiting = arrivals.flatMap((arrival) => arrival.seal_ids as string[])
  expect([...entered, ...waiting].sort()).toEqual(seals.map((seal) => seal.seal_id).sort())
  if (head) expect(Buffer.compare(merkleRoot(await readLeaves(tx, 0, size), sha256), head.root)).toBe(0)
  return { size, waiting: waiting.length, seals: seals.length }
}

async function inSnapshot<Seen>(dataDir: string, look: (tx: TenantTx) => Promise<Seen>): Promise<Seen> {
  const log = { info: () => {}, warn: () => {}, error: () => {} }
  const database = await openDatabase(loadConfig({ HUB_DATA_DIR: dataDir }), { purpose: 'command', log })
  try {
    return await database.withTenant('acme', look, { readOnly: true, snapshot: true })
  } finally {
    await database.stop()
  }
}

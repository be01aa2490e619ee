import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { HubClient } from '../../sdk/typescript/src/index.ts'
import { freshDataDirectory, removeDataDirectories } from '../support/data-directory.ts'
import { type HubProcess, makeTenant, startHubProcess } from '../support/hub-process.ts'
import { type StoredEvent, storedTelemetry } from '../support/stored-telemetry.ts'
import { testLength } from '../support/test-length.ts'
import { event } from '../telemetry/events.ts'

const rounds = testLength({ short: 3, long: 30 })
const batchWorkers = 3
/** Enough that their events share transactions. */
const singleWorkers = 12
const workers = batchWorkers + singleWorkers
const eventsPerBatch = 200

/** Events of one request: a whole batch, or a single one. */
interface Batch {
  name: string
  size: number
  /** Every third batch goes without. */
  key: string | undefined
}

interface Acknowledged {
  batch: Batch
  recordIds: string[]
}

let hub: HubProcess | undefined
afterAll(async () => {
  await hub?.stop()
  await removeDataDirectories()
})

test(`kill -9 of everything in the middle of ingest, ${rounds} times`, async () => {
  const dataDir = await freshDataDirectory()
  hub = await startHubProcess(dataDir, { HUB_LIMIT_FACTOR: '1000' })
  const credentials = await makeTenant(dataDir, 'crash')
  const connect = (url: string) => new HubClient({ baseUrl: url, ...credentials })
  await connect(hub.url).post('/api/v1/hub/records', {
    body: { record_type: 'skill_definition', skill_id: 'sum-up', skill_version: '1.0.0', name: 'Sum up' },
  })

  const acknowledged: Acknowledged[] = []
  const unanswered: Batch[] = []
  for (let round = 0; round < rounds; round++) {
    const cut = await ingestUntilKilled(hub, connect(hub.url), round)
    expect(cut.acknowledged.length).toBeGreaterThan(0)
    expect(cut.unanswered.length).toBeGreaterThan(0)

    hub = await startHubProcess(dataDir, { HUB_LIMIT_FACTOR: '1000' })
    const client = connect(hub.url)
    for (const batch of cut.unanswered) {
      if (batch.key === undefined) unanswered.push(batch)
      else cut.acknowledged.push({ batch, recordIds: await send(client, batch) })
    }
    acknowledged.push(...cut.acknowledged)
    expectNothingLostOrDoubled(await storedTelemetry(client), acknowledged, unanswered)
  }
  // Acknowledged before the last kill and asked for again: the first answer still.
  const again = acknowledged.filter(({ batch }) => batch.key !== undefined).slice(-5)
  for (const { batch, recordIds } of again) expect(await send(connect(hub.url), batch)).toEqual(recordIds)
})

/** Sends batches from several workers, kills everything while they do, and says what was answered and what was not. */
async function ingestUntilKilled(running: HubProcess, client: HubClient, round: number) {
  const answered: Acknowledged[] = []
  const open: Batch[] = []
  let killing = false
  async function work(worker: number): Promise<void> {
    for (let count = 0; ; count++) {
      const name = `${round}.${worker}.${count}`
      const size = worker < batchWorkers ? eventsPerBatch : 1
      const batch = { name, size, key: count % 3 === 2 ? undefined : name }
      try {
        answered.push({ batch, recordIds: await send(client, batch) })
      } catch (error) {
        // Only the kill may break a request.
        if (!killing) throw error
        open.push(batch)
        return
      }
    }
  }
  const working = Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)))
  working.catch(() => {})
  while (answered.length < workers) await Promise.race([delay(5), working])
  await delay(20 + Math.random() * 400)
  killing = true
  await running.killEverything()
  await working
  return { acknowledged: answered, unanswered: open }
}

/** Returns the ids of the stored records, in the order of the events. */
async function send(client: HubClient, { name, size, key }: Batch): Promise<string[]> {
  const events = Array.from({ length: size }, (_, at) => event({ metadata: { batch: name, at } }))
  const options = key === undefined ? {} : { idempotencyKey: key }
  if (size === 1) {
    const single = { body: events[0], ...options }
    return [(await client.post<{ record_id: string }>('/api/v1/telemetry/events', single)).record_id]
  }
  const answer = await client.post<{ accepted: number; records: { record_id: string }[] }>(
    '/api/v1/telemetry/events:batch',
    { body: { events }, ...options },
  )
  expect(answer.accepted).toBe(size)
  return answer.records.map((record) => record.record_id)
}

function expectNothingLostOrDoubled(stored: StoredEvent[], acknowledged: Acknowledged[], unanswered: Batch[]): void {
  const byBatch = Map.groupBy(stored, (record) => record.metadata!.batch)
  for (const { batch, recordIds } of acknowledged) {
    const records = byBatch.get(batch.name) ?? []
    const inOrder = records.toSorted((a, b) => a.metadata!.at - b.metadata!.at).map((record) => record.record_id)
    expect(inOrder, `batch ${batch.name}`).toEqual(recordIds)
    byBatch.delete(batch.name)
  }
  // Nobody was told of these: each is there whole or not at all.
  for (const { name, size } of unanswered) {
    expect([0, size], `batch ${name}`).toContain(byBatch.get(name)?.length ?? 0)
    byBatch.delete(name)
  }
  expect([...byBatch.keys()]).toEqual([])
}

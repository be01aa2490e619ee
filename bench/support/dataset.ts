// Creates a store like that of a company after a month: several tenants, events of 30 days, most of them at working
// hours. The batch endpoint writes all of it, so every record verifies and the rollups exist.
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { Pool } from 'undici'
import { clientConfig } from '../../server/db/connection-settings.ts'
import { hubCommand } from '../../tests/support/hub-process.ts'
import type { BenchHub, BenchTenant } from './bench-hub.ts'
import { logProgress } from './progress.ts'
import { sampleEvent } from './sample-events.ts'

const eventsPerBatch = 1000
const connections = 4
const days = 30
const quarterHourMs = 15 * 60_000
const manifestName = 'bench-dataset.json'
/** Size of each further tenant as a share of the first. */
const furtherShare = 1 / 20
/** Number of batches that may have been in flight when an earlier run ended. */
const batchesRepeated = 16
const foldSecondsMax = 3600

interface DatasetSize {
  /** Number of events of the first tenant; each further one has a twentieth. */
  records: number
  tenants: number
}

interface Manifest extends DatasetSize {
  /** The time of the first event. */
  startMs: number
}

interface Part {
  tenant: BenchTenant
  records: number
  /** Number of events that are already stored. */
  stored: number
}

export interface Dataset {
  manifest: Manifest
  parts: [Part, ...Part[]]
}

/**
 * Creates the tenants `bench`, `bench-2`, …, or finds those of an earlier run on the same data directory.
 *
 * @throws Error if the data directory holds a dataset of another size
 */
export async function prepareDataset(hub: BenchHub, size: DatasetSize): Promise<Dataset> {
  const path = join(hub.dataDir, manifestName)
  const startMs = Math.floor(Date.now() / quarterHourMs) * quarterHourMs - days * 86_400_000
  if (!existsSync(path)) await writeFile(path, JSON.stringify({ ...size, startMs }))
  const manifest = JSON.parse(await readFile(path, 'utf8')) as Manifest
  if (manifest.records !== size.records || manifest.tenants !== size.tenants) {
    throw new Error(`${hub.dataDir} is for ${manifest.records} records of ${manifest.tenants} tenants: take another`)
  }
  const parts = await Promise.all(
    Array.from({ length: size.tenants }, async (_, at): Promise<Part> => {
      const tenant = await hub.tenant(at === 0 ? 'bench' : `bench-${at + 1}`)
      const records = Math.round(size.records * (at === 0 ? 1 : furtherShare))
      return { tenant, records, stored: await countEvents(hub, tenant.slug) }
    }),
  )
  return { manifest, parts: parts as Dataset['parts'] }
}

/** Ingests the missing events, and waits until the rollups include them. Memory does not grow with the size. */
export async function fillDataset(hub: BenchHub, { manifest, parts }: Dataset): Promise<{ seconds: number }> {
  const total = parts.reduce((sum, { records }) => sum + records, 0)
  const present = parts.reduce((sum, { stored }) => sum + stored, 0)
  if (present >= total) return { seconds: 0 }
  logProgress(
    `dataset of ${total} events over ${parts.length} tenants${present > 0 ? `, of which ${present} are there` : ''}`,
  )
  const began = performance.now()
  const batches = batchesOf(parts)
  let sent = 0
  const pool = new Pool(hub.url, { connections, pipelining: 1 })
  const progress = setInterval(() => {
    const rate = sent / ((performance.now() - began) / 1000)
    const left = Math.max(0, Math.round((total - present - sent) / rate))
    logProgress(`${Math.min(total, present + sent)} of ${total} events, ${Math.round(rate)}/s, ${left} s left`)
  }, 10_000)
  async function work(): Promise<void> {
    for (const batch of batches) {
      await sendBatch(pool, manifest, batch)
      sent += batch.events
    }
  }
  try {
    await Promise.all(Array.from({ length: connections }, work))
  } finally {
    clearInterval(progress)
    await pool.close()
  }
  const seconds = (performance.now() - began) / 1000
  logProgress(`${sent} events in ${Math.round(seconds)} s, ${Math.round(sent / seconds)}/s`)
  await waitForFolding(hub, parts)
  logProgress('writing the rows of whole days, as each day would have been at its end')
  await hubCommand(hub.dataDir, 'jobs', 'run', 'fold-rollups')
  await vacuum(hub)
  return { seconds }
}

interface Batch {
  part: Part
  number: number
  events: number
}

/** Yields batches of all tenants at the same pace, so that their rows interleave. */
function* batchesOf(parts: Dataset['parts']): Generator<Batch> {
  const last = Math.ceil(parts[0].records / eventsPerBatch)
  const done = parts.map(({ stored }) => Math.max(0, Math.floor(stored / eventsPerBatch) - batchesRepeated))
  for (let step = 1; step <= last; step++) {
    for (const [at, part] of parts.entries()) {
      const count = Math.ceil(part.records / eventsPerBatch)
      for (; done[at]! < Math.floor((count * step) / last); done[at]!++) {
        const number = done[at]!
        yield { part, number, events: Math.min(eventsPerBatch, part.records - number * eventsPerBatch) }
      }
    }
  }
}

/** Sends a batch under its own key, so that a second run repeats none. */
async function sendBatch(pool: Pool, manifest: Manifest, { part, number, events }: Batch): Promise<void> {
  const list = Array.from({ length: events }, (_, at) => {
    const index = number * eventsPerBatch + at
    return sampleEvent(index, manifest.startMs + Math.floor(workingTime(index / part.records)))
  })
  const { statusCode, body } = await pool.request({
    method: 'POST',
    path: '/api/v1/telemetry/events:batch',
    headers: { ...(await part.tenant.headers()), 'idempotency-key': `dataset-${manifest.startMs}-${number}` },
    body: JSON.stringify({ events: list }),
  })
  const answer = await body.text()
  if (statusCode !== 201 || !answer.includes(`"accepted":${events},`)) {
    throw new Error(`batch ${number} of ${part.tenant.slug}: ${statusCode} ${answer.slice(0, 500)}`)
  }
}

/** Weights of the quarter hours: ten times more from 8 to 18 o'clock, on every day. */
const busyQuarters = Array.from({ length: 96 }, (_, quarter) => (quarter >= 32 && quarter < 72 ? 10 : 1))
const dayTotal = busyQuarters.reduce((sum, weight) => sum + weight, 0)

/**
 * Returns the time, in milliseconds after the first event, by which the given share of all events has happened.
 *
 * @param share 0 to 1
 */
function workingTime(share: number): number {
  const day = Math.min(days - 1, Math.floor(share * days))
  let left = (share * days - day) * dayTotal
  let quarter = 0
  while (quarter < 95 && left > busyQuarters[quarter]!) left -= busyQuarters[quarter++]!
  return day * 86_400_000 + (quarter + Math.min(1, left / busyQuarters[quarter]!)) * quarterHourMs
}

function countEvents(hub: BenchHub, slug: string): Promise<number> {
  return hub.database.withTenant(slug, async (tx) => {
    const { rows } = await tx.client.query<{ events: number }>(
      `select count(*)::int as events from hub.records where tenant_id = $1 and record_type = 'telemetry_event'`,
      [slug],
    )
    return rows[0]!.events
  })
}

async function waitForFolding(hub: BenchHub, parts: Dataset['parts']): Promise<void> {
  const began = performance.now()
  const seconds = () => Math.round((performance.now() - began) / 1000)
  for (let checks = 1; ; checks++) {
    let left = 0
    for (const { tenant } of parts) left += await countDeltas(hub, tenant.slug)
    if (left === 0) break
    if (seconds() > foldSecondsMax) throw new Error(`${left} deltas are not folded after ${foldSecondsMax} s`)
    if (checks % 20 === 0) logProgress(`${left} deltas are not folded into the rollups yet`)
    await sleep(500)
  }
  logProgress(`rollups took ${seconds()} s more to take in the last deltas`)
}

function countDeltas(hub: BenchHub, slug: string): Promise<number> {
  return hub.database.withTenant(slug, async (tx) => {
    const { rows } = await tx.client.query<{ deltas: number }>(
      'select count(*)::int as deltas from hub.telemetry_deltas where tenant_id = $1',
      [slug],
    )
    return rows[0]!.deltas
  })
}

/** Does the work of a month of autovacuum: every size is measured after it. */
async function vacuum(hub: BenchHub): Promise<void> {
  const owner = new pg.Client(clientConfig(hub.database.connection.owner, 'hub-bench'))
  await owner.connect()
  try {
    await owner.query('vacuum (analyze)')
  } finally {
    await owner.end()
  }
}

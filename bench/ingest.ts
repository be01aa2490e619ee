// Measures telemetry ingest against what the database and the HTTP server could do at best, in one run on one
// machine. See README.md beside this file.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { availableParallelism, cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { HubClient } from '../sdk/hub-client.ts'
import { loadConfig } from '../server/config.ts'
import { type OpenedDatabase, openDatabase } from '../server/db/open-database.ts'
import { freshDataDirectory, removeDataDirectories } from '../tests/support/data-directory.ts'
import { hubCommand, makeTenant, startHubProcess } from '../tests/support/hub-process.ts'
import { type Load, sendBatches, sendSingles } from './load-generator.ts'
import { measureRawCopy, type RawCopy } from './raw-copy.ts'
import { archetypeIds, sampleBatches, sampleEvent, skillIds } from './sample-events.ts'
import { countMissing } from './stored-check.ts'

const tenant = 'bench'
const eventsPerBatch = 1000
const batchConnections = 4
const singleConnections = 64
const copyClients = 2

const { values: flags } = parseArgs({
  options: {
    seconds: { type: 'string', default: '20' },
    'warm-up': { type: 'string', default: '3' },
    out: { type: 'string', default: join(import.meta.dirname, 'results', 'ingest.tmp.json') },
  },
})
const seconds = positive('seconds')
const warmUpSeconds = positive('warm-up')

function positive(name: 'seconds' | 'warm-up'): number {
  const value = Number(flags[name])
  if (Number.isFinite(value) && value > 0) return value
  throw new Error(`--${name} must be a positive number, not ${flags[name]}`)
}

const say = (text: string) => process.stderr.write(`${text}\n`)
const perSecond = (count: number, over: number) => Math.round(count / over)

async function measureEcho(): Promise<Load> {
  const server = spawn(process.execPath, [join(import.meta.dirname, 'reference-echo.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [line] = (await once(server.stdout, 'data')) as [Buffer]
    return await sendSingles(Buffer.from(JSON.stringify(sampleEvent(1, Date.now()))), {
      url: line.toString().trim(),
      path: '/echo',
      headers: { 'content-type': 'application/json' },
      connections: singleConnections,
      seconds,
      warmUpSeconds,
      expectedStatus: 200,
    })
  } finally {
    server.kill()
    await once(server, 'close')
  }
}

interface Ingested {
  batch: Load
  single: Load
  copy: RawCopy
  batchIds: string[]
  singleIds: string[]
  missing: number
}

async function measureHub(dataDir: string): Promise<Ingested> {
  const hub = await startHubProcess(dataDir, { HUB_LIMIT_FACTOR: '100000' })
  try {
    const credentials = await makeTenant(dataDir, tenant)
    await hubCommand(dataDir, 'archetypes', 'set', '--tenant', tenant, ...archetypeIds)
    await registerSkills(new HubClient({ baseUrl: hub.url, ...credentials }))
    const headers = {
      authorization: `Bearer ${await accessToken(hub.url, credentials)}`,
      'x-service-tenant': tenant,
      'content-type': 'application/json',
    }
    const common = { url: hub.url, headers, seconds, warmUpSeconds, expectedStatus: 201 }

    say(`single ingest, ${singleConnections} connections, ${seconds} s`)
    const single = await sendSingles(Buffer.from(JSON.stringify(sampleEvent(1, Date.now()))), {
      ...common,
      path: '/api/v1/telemetry/events',
      connections: singleConnections,
    })
    say(`batch ingest, ${eventsPerBatch} events × ${batchConnections} connections, ${seconds} s`)
    const batch = await sendBatches(sampleBatches(64, eventsPerBatch), {
      ...common,
      path: '/api/v1/telemetry/events:batch',
      connections: batchConnections,
    })
    const singleIds = single.bodies.map((body) => (JSON.parse(body.toString()) as { record_id: string }).record_id)
    const batchIds = batch.bodies.flatMap((body) =>
      (JSON.parse(body.toString()) as { records: { record_id: string }[] }).records.map((record) => record.record_id),
    )
    const database = await openDatabase(loadConfig({ HUB_DATA_DIR: dataDir }), { purpose: 'command' })
    try {
      return { single, batch, singleIds, batchIds, ...(await compare(database, singleIds, batchIds)) }
    } finally {
      await database.stop()
    }
  } finally {
    await hub.stop()
  }
}

async function compare(database: OpenedDatabase, singleIds: string[], batchIds: string[]) {
  say(`looking for each of the ${singleIds.length + batchIds.length} acknowledged records`)
  const missing = await countMissing(database, tenant, [...singleIds, ...batchIds])
  say(`raw COPY of the same rows, ${copyClients} clients`)
  const copy = await measureRawCopy(database, tenant, batchIds, {
    clients: copyClients,
    rowsPerCopy: eventsPerBatch,
    secondsMax: seconds,
  })
  return { missing, copy }
}

async function registerSkills(client: HubClient): Promise<void> {
  for (const skillId of skillIds) {
    await client.post('/api/v1/hub/records', {
      body: { record_type: 'skill_definition', skill_id: skillId, skill_version: '1.4.2', name: skillId },
    })
  }
}

async function accessToken(url: string, credentials: { clientId: string; clientSecret: string }): Promise<string> {
  const response = await fetch(`${url}/api/v1/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: credentials.clientId,
      client_secret: credentials.clientSecret,
    }),
  })
  if (!response.ok) throw new Error(`no token: ${response.status} ${await response.text()}`)
  return ((await response.json()) as { access_token: string }).access_token
}

function report(echo: Load, hub: Ingested) {
  const rates = {
    raw_copy_rows_per_s: perSecond(hub.copy.rows, hub.copy.seconds),
    batch_events_per_s: perSecond(hub.batch.answered * eventsPerBatch, hub.batch.seconds),
    echo_requests_per_s: perSecond(echo.answered, echo.seconds),
    single_events_per_s: perSecond(hub.single.answered, hub.single.seconds),
  }
  return {
    measured_at: new Date().toISOString(),
    machine: { cpu: cpus()[0]?.model, cores: availableParallelism(), memory_gib: Math.round(totalmem() / 2 ** 30) },
    node: process.version,
    seconds,
    ...rates,
    batch_to_raw_copy: Number((rates.batch_events_per_s / rates.raw_copy_rows_per_s).toFixed(3)),
    single_to_echo: Number((rates.single_events_per_s / rates.echo_requests_per_s).toFixed(3)),
    latency_ms: { batch: hub.batch.latency, single: hub.single.latency, echo: echo.latency },
    acknowledged: hub.singleIds.length + hub.batchIds.length,
    missing: hub.missing,
  }
}

say(`bare Fastify echo, ${singleConnections} connections, ${seconds} s`)
const echo = await measureEcho()
try {
  const result = report(echo, await measureHub(await freshDataDirectory()))
  await mkdir(join(flags.out, '..'), { recursive: true })
  await writeFile(flags.out, `${JSON.stringify(result, null, 2)}\n`)
  console.table({
    'raw COPY, 2 clients': { 'per second': result.raw_copy_rows_per_s, ratio: 1 },
    'batch ingest': { 'per second': result.batch_events_per_s, ratio: result.batch_to_raw_copy },
    'bare Fastify echo': { 'per second': result.echo_requests_per_s, ratio: 1 },
    'single ingest': { 'per second': result.single_events_per_s, ratio: result.single_to_echo },
  })
  console.log(JSON.stringify(result))
  if (result.missing > 0) {
    say(`${result.missing} acknowledged records are not stored`)
    process.exitCode = 1
  }
} finally {
  await removeDataDirectories()
}

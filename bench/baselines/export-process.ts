// Makes exports in a process of its own, or reads the same rows by COPY, on request. Uses the database of the
// environment. See ../README.md.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { to as copyTo } from 'pg-copy-streams'
import { recordTypes } from '../../contract/literals.ts'
import { loadConfig } from '../../server/config.ts'
import { openDatabase } from '../../server/db/open-database.ts'
import { EventBus } from '../../server/event-bus.ts'
import { createMasterKeySecrets } from '../../server/modules/cmek/tenant-secrets.ts'
import { createExportEncryption } from '../../server/modules/exports/export-encryption.ts'
import { createExportWriter } from '../../server/modules/exports/files/export-writer.ts'
import { ProvenanceKeyRing } from '../../server/modules/keys/provenance-keys-service.ts'
import { createHoldCheck } from '../../server/modules/legal-holds/hold-check.ts'
import { createTenantLogs } from '../../server/modules/log/tenant-logs.ts'
import { sealedRecords } from '../../server/modules/sealing/sealed-records.ts'
import { createVerificationPool } from '../../server/modules/verification/provenance-check-pool.ts'
import { createRecordVerifier, createStoredVerification } from '../../server/modules/verification/record-verifier.ts'
import { createErasedContentCheck } from '../../server/modules/verification/verification-module.ts'
import { createVerifiedEvents } from '../../server/modules/verification/verified-events.ts'
import { createRecordClock } from '../../server/records/record-clock.ts'
import { openStorage } from '../../server/storage/open-storage.ts'

/** A task for this process. */
export interface Assignment {
  tenant: string
  /** The export to make; absent, the process reads the rows by COPY. */
  order?: { format: 'jsonl' | 'csv' | 'parquet'; compression?: 'gzip'; verify?: boolean; includeProvenance?: boolean }
}

/** The result of a task. */
export interface Accomplishment {
  rows: number
  bytes: number
  seconds: number
  cpuSeconds: number
  /** Resident memory during the task, in bytes, at even intervals. */
  rss: number[]
  /** Memory in use after a full collection, in bytes, about once a second; empty without `--expose-gc`. */
  live: number[]
  /** The peak of resident memory, in bytes. */
  rssMax: number
}

const database = await openDatabase(loadConfig(process.env), { purpose: 'command' })
const clock = createRecordClock()
const keys = new ProvenanceKeyRing({ database, masterKey: database.masterKey })
const logs = createTenantLogs({ database, keys, clock, events: new EventBus() })
const directory = await mkdtemp(join(tmpdir(), 'hub-bench-exports-'))
const storage = openStorage({ storageUrl: `file://${directory}`, dataDir: directory })
const pool = createVerificationPool()
// Ignores findings of tampering.
const tampering = { report: () => {}, settled: async () => {}, deleteOldClaims: async () => false }
const verifiedEvents = createVerifiedEvents({ keys, pool })
const check = createRecordVerifier({
  ...{ keys, pool, holds: createHoldCheck(verifiedEvents) },
  erasedContents: createErasedContentCheck(verifiedEvents),
})
const verification = createStoredVerification({ check, tampering })
const secrets = createMasterKeySecrets(database.masterKey)
const encryption = createExportEncryption({ database, secrets })
const search = { ids: async () => [] }
const parts = { database, storage, encryption, logs, keys, records: sealedRecords, verification, clock, search }
const writer = createExportWriter(parts, { progressMs: 50 })

type Samples = Pick<Accomplishment, 'rss' | 'live'>

async function makeExport(tenantId: string, order: NonNullable<Assignment['order']>, { rss, live }: Samples) {
  const [key] = await keys.publicKeysOf(tenantId)
  const tenant = {
    slug: tenantId,
    mode: 'A' as const,
    baseUrl: 'http://hub.test',
    hasOwnAddress: false,
    logName: key!.name,
  }
  const whole = { compression: null, verify: false, includeProvenance: true, filter: {}, recordTypes, ...order }
  const { rows, sizeBytes } = await writer.write(
    tenant,
    { ...whole, jobId: 'exp_bench', createdBy: 'bench', createdAt: clock.next().createdAt },
    {
      signal: new AbortController().signal,
      progress: async () => {
        rss.push(process.memoryUsage.rss())
        if (!global.gc || rss.length % 20 > 0) return
        global.gc()
        const { heapUsed, external } = process.memoryUsage()
        live.push(heapUsed + external)
      },
    },
  )
  return { rows, bytes: sizeBytes }
}

async function readByCopy(tenantId: string): Promise<{ rows: number; bytes: number }> {
  return database.withTenant(tenantId, async (tx) => {
    const stream = tx.client.query(
      copyTo(`copy (select * from hub.records where tenant_id = '${tenantId}' order by record_id) to stdout`),
    )
    let bytes = 0
    for await (const chunk of stream) bytes += (chunk as Buffer).length
    return { rows: stream.rowCount, bytes }
  })
}

async function accomplish({ tenant, order }: Assignment): Promise<Accomplishment> {
  const samples: Samples = { rss: [], live: [] }
  const cpuBefore = process.cpuUsage()
  const began = performance.now()
  const done = order ? await makeExport(tenant, order, samples) : await readByCopy(tenant)
  const seconds = (performance.now() - began) / 1000
  const { user, system } = process.cpuUsage(cpuBefore)
  return {
    ...done,
    seconds,
    cpuSeconds: (user + system) / 1e6,
    ...samples,
    rssMax: process.resourceUsage().maxRSS * 1024,
  }
}

process.on('message', (assignment: Assignment) => {
  accomplish(assignment).then(
    (accomplishment) => process.send!(accomplishment),
    (error: unknown) => {
      console.error(error)
      process.exit(1)
    },
  )
})
process.on('disconnect', async () => {
  await pool.close()
  await database.stop()
  await rm(directory, { recursive: true, force: true })
  process.exit()
})
process.send!('ready')

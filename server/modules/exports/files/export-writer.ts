import { createHash } from 'node:crypto'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { readTenant } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { ModuleParts } from '../../../module-parts.ts'
import type { Storage } from '../../../storage/storage.ts'
import type { LogSpan, SealedRecords } from '../../sealing/sealed-records-types.ts'
import type { StoredVerification } from '../../verification/verification-types.ts'
import type { ExportEncryption } from '../export-encryption.ts'
import type { ExportFileNames, ExportOrder, ExportWriter } from '../exports-types.ts'
import { csvFile } from './csv-file.ts'
import { entryParts } from './entry-parts.ts'
import type { PartPages } from './export-parts-types.ts'
import { ExportTally } from './export-tally.ts'
import { jsonlFile } from './jsonl-file.ts'
import { SealsWriter, writeManifest } from './manifest.ts'
import { parquetFile } from './parquet-file.ts'
import { ReservedBytes } from './reserved-bytes.ts'

export interface ExportWriterDeps extends Pick<ModuleParts, 'database' | 'logs' | 'keys' | 'clock'> {
  storage: Storage
  encryption: Pick<ExportEncryption, 'forWriting'>
  records: SealedRecords
  verification: StoredVerification
}

type WriteOptions = Parameters<ExportWriter['write']>[2]

/** Milliseconds between two progress reports, each of which is a statement to the database. */
const progressMs = 500

/** @param options.progressMs minimum milliseconds between two progress reports */
export function createExportWriter(deps: ExportWriterDeps, options: { progressMs?: number } = {}): ExportWriter {
  return {
    fileNames,
    keyOf,
    async write(tenant, order, writing) {
      const keys = keysOf(tenant.slug, order)
      try {
        writing.signal.throwIfAborted()
        await removeAll(deps.storage, [keys.manifest, keys.seals])
        const storage = await deps.encryption.forWriting(tenant, order.jobId, deps.storage)
        return await writeFiles({ ...deps, storage }, tenant, order, writing, options.progressMs ?? progressMs)
      } catch (error) {
        // The next attempt replaces remaining files, or the job deletes them.
        await removeAll(deps.storage, Object.values(keys)).catch(() => {})
        throw writing.signal.aborted ? writing.signal.reason : error
      }
    },
  }
}

function fileNames({
  jobId,
  format,
  compression,
}: Pick<ExportOrder, 'jobId' | 'format' | 'compression'>): ExportFileNames {
  const file = `${jobId}.${format}${compression === 'gzip' ? '.gz' : ''}`
  return { file, manifest: `${file}.manifest.json` }
}

function keyOf(tenant: string, jobId: string, fileName: string): string {
  return `exports/${tenant}/${jobId}/${fileName}`
}

/** Returns the keys of all files of an export; the last one exists only during the write. */
function keysOf(tenant: string, order: Pick<ExportOrder, 'jobId' | 'format' | 'compression'>) {
  const { file, manifest } = fileNames(order)
  const key = (name: string) => keyOf(tenant, order.jobId, name)
  return { file: key(file), manifest: key(manifest), seals: key(`${file}.seals`) }
}

async function removeAll(storage: Storage, keys: readonly string[]): Promise<void> {
  for (const key of keys) await storage.delete(key)
}

async function writeFiles(
  deps: Omit<ExportWriterDeps, 'encryption'>,
  tenant: Tenant,
  order: ExportOrder,
  { signal, progress, reserve }: WriteOptions,
  everyMs: number,
) {
  const { database, storage, logs, keys, records } = deps
  const paths = keysOf(tenant.slug, order)
  const head = await logs.integrate(tenant)
  const { span, leaves, proof } = await readTenant(database, tenant.slug, async (tx) => {
    const found: LogSpan = await records.spanOf(tx, order.filter, head.treeSize)
    return {
      span: found,
      leaves: await records.countLeaves(tx, found),
      proof: await logs.rangeProof(tx, found.from, found.to, head.treeSize),
    }
  })

  const tally = new ExportTally(leaves, progress, everyMs)
  await tally.report()
  const reserved = new ReservedBytes(reserve)
  const seals = order.includeProvenance
    ? new SealsWriter(storage, paths.seals, { records, logName: tenant.logName, reserved })
    : undefined
  const pages = entryParts(deps, {
    tenant,
    span,
    selection: { filter: order.filter, recordTypes: order.recordTypes },
    withCosign: order.includeProvenance,
    verify: order.verify,
    signal,
  })
  let file: { sizeBytes: number; sha256: string }
  let sealsSha256: string | undefined
  try {
    file = await writeFile(storage, paths.file, fileOf(order, followed(pages, tally, seals)), order, {
      signal,
      reserved,
    })
    sealsSha256 = await seals?.finish()
  } catch (error) {
    await seals?.abort(error as Error)
    throw error
  }

  signal.throwIfAborted()
  const signer = await keys.signerOf(tenant.slug)
  const parts = {
    order,
    logName: tenant.logName,
    span,
    head,
    proof,
    file: {
      name: fileNames(order).file,
      size_bytes: file.sizeBytes,
      sha256: file.sha256,
      rows: tally.rows,
    },
    leftOut: tally.leftOut,
    keys: await keys.publicKeysOf(tenant.slug, [signer.keyId]),
    sealsSha256,
  }
  // The manifest holds the seals once more, until their own file is deleted.
  if (seals) await reserved.add(seals.bytes)
  await writeManifest(storage, paths.manifest, parts, signer, seals && paths.seals)
  await storage.delete(paths.seals)
  const manifestBytes = (await storage.size(paths.manifest)) ?? 0
  signal.throwIfAborted()
  await tally.report()
  return {
    rows: tally.rows,
    sizeBytes: file.sizeBytes + manifestBytes,
    verificationSummary: order.verify ? tally.verificationSummary : null,
  }
}

/** Passes pages on, and adds each to the seals and the tally. */
async function* followed(pages: PartPages, tally: ExportTally, seals: SealsWriter | undefined): PartPages {
  for await (const parts of pages) {
    yield parts
    await seals?.add(parts)
    await tally.add(parts)
  }
}

function fileOf({ format, includeProvenance, verify }: ExportOrder, pages: PartPages): AsyncGenerator<Buffer> {
  switch (format) {
    case 'jsonl':
      return jsonlFile(pages, includeProvenance)
    case 'csv':
      return csvFile(pages, { includeProvenance, verify })
    case 'parquet':
      return parquetFile(pages, { includeProvenance, verify })
  }
}

/** Writes a file. Size and hash are those of the downloaded bytes. */
async function writeFile(
  storage: Storage,
  key: string,
  chunks: AsyncGenerator<Buffer>,
  { compression }: ExportOrder,
  { signal, reserved }: { signal: AbortSignal; reserved: ReservedBytes },
) {
  const digest = createHash('sha256')
  let sizeBytes = 0
  const metered = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      digest.update(chunk)
      sizeBytes += chunk.length
      const reservation = reserved.add(chunk.length)
      if (reservation === undefined) return done(null, chunk)
      reservation.then(() => done(null, chunk), done)
    },
  })
  const source = Readable.from(chunks, { objectMode: true, highWaterMark: 1 })
  const stored = storage.write(key, metered)
  // A storage that fails before it reads would leave the source waiting for ever.
  stored.catch((error: Error) => metered.destroy(error))
  const piped =
    compression === 'gzip' ? pipeline(source, createGzip(), metered, { signal }) : pipeline(source, metered, { signal })
  // If the source fails, both fail. The error of the source is then the reason, not the broken content.
  const [pipe, store] = await Promise.allSettled([piped, stored])
  if (store.status === 'rejected') throw store.reason
  if (pipe.status === 'rejected') throw pipe.reason
  return { sizeBytes, sha256: digest.digest('hex') }
}

import { createHash } from 'node:crypto'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { readTenant, type TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { ModuleParts } from '../../../module-parts.ts'
import type { Storage } from '../../../storage/storage.ts'
import type { LogHead } from '../../log/log-types.ts'
import type { LogIndexRange, SealedRecords } from '../../sealing/sealed-records-types.ts'
import type { SearchMatches } from '../../search/search-types.ts'
import type { StoredVerification } from '../../verification/verification-types.ts'
import type { ExportProgress, ExportRequest, RecordFileOrder, WrittenExport } from '../exports-types.ts'
import { csvFile } from './csv-file.ts'
import { entryParts } from './entry-parts.ts'
import type { EntryPart, PartPages } from './export-parts-types.ts'
import { ExportTally } from './export-tally.ts'
import { jsonlFile } from './jsonl-file.ts'
import { SealsWriter, writeManifest } from './manifest.ts'
import { parquetFile } from './parquet-file.ts'
import type { ReservedBytes } from './reserved-bytes.ts'

export interface RecordFilesDeps extends Pick<ModuleParts, 'database' | 'logs' | 'keys' | 'clock'> {
  storage: Storage
  records: SealedRecords
  verification: StoredVerification
  search: Pick<SearchMatches, 'ids'>
}

/** Takes each page of a file after it was written. */
export interface PartsFollower {
  add(parts: readonly EntryPart[]): Promise<void>
}

export interface RecordFilesOptions {
  /** The name of the file, and the storage keys of the file, its manifest, and its seals during the write. */
  paths: { name: string; file: string; manifest: string; seals: string }
  signal: AbortSignal
  progress: ExportProgress
  /** Minimum milliseconds between two progress reports. */
  everyMs: number
  reserved: ReservedBytes
  follower?: PartsFollower
  /** Returns a wider range of the log than the times of the filter need. */
  widen?(tx: TenantTx, span: LogIndexRange, head: LogHead): Promise<LogIndexRange>
}

export type WrittenRecords = WrittenExport & { leftOut: number; head: LogHead; span: LogIndexRange }

/** Writes a file of records and its manifest, in short transactions and bounded memory. */
export async function writeRecordFiles(
  deps: RecordFilesDeps,
  tenant: Tenant,
  order: RecordFileOrder,
  options: RecordFilesOptions,
): Promise<WrittenRecords> {
  const { database, storage, logs, keys, records } = deps
  const { paths, signal, progress, everyMs, reserved } = options
  const recordIds = await foundIds(deps, tenant, order)
  const head = await logs.integrate(tenant)
  const { span, leaves, proof } = await readTenant(database, tenant.slug, async (tx) => {
    const ofTimes = await records.spanOf(tx, order.filter, head.treeSize)
    const found: LogIndexRange = (await options.widen?.(tx, ofTimes, head)) ?? ofTimes
    return {
      span: found,
      leaves: await records.countLeaves(tx, found),
      proof: await logs.rangeProof(tx, found.from, found.to, head.treeSize),
    }
  })

  const tally = new ExportTally(leaves, progress, everyMs)
  await tally.report()
  const seals = order.includeProvenance
    ? new SealsWriter(storage, paths.seals, { records, logName: tenant.logName, reserved })
    : undefined
  const pages = entryParts(deps, {
    tenant,
    span,
    selection: {
      ...{ filter: order.filter, recordTypes: order.recordTypes, recordIds },
      contentLeftOut: order.contentLeftOut,
    },
    withCosign: order.includeProvenance,
    verify: order.verify,
    signal,
  })
  let file: { sizeBytes: number; sha256: string }
  let sealsSha256: string | undefined
  try {
    file = await writeFile(
      storage,
      paths.file,
      fileOf(order, followed(pages, [seals, tally, options.follower])),
      order,
      {
        signal,
        reserved,
      },
    )
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
      name: paths.name,
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
    leftOut: tally.leftOut,
    sizeBytes: file.sizeBytes + manifestBytes,
    verificationSummary: order.verify ? tally.verificationSummary : null,
    head,
    span,
  }
}

/** Returns the ids of the records that the query of the filter finds; undefined without a query. */
async function foundIds(
  { search }: Pick<RecordFilesDeps, 'search'>,
  tenant: Tenant,
  { filter, recordTypes, createdAt }: RecordFileOrder,
): Promise<string[] | undefined> {
  const { q, skill_id: skillId, created_at__gte: from, created_at__lt: end } = filter
  if (q === undefined) return undefined
  // Later records, such as the event about this export, might match, too. Retries find the same as the first attempt.
  const before = end === undefined || end > createdAt ? createdAt : end
  return search.ids(tenant, { q, recordTypes, skillId, from, before })
}

/** Passes pages on, and adds each to the followers. */
async function* followed(pages: PartPages, followers: readonly (PartsFollower | undefined)[]): PartPages {
  for await (const parts of pages) {
    yield parts
    for (const follower of followers) await follower?.add(parts)
  }
}

function fileOf({ format, includeProvenance, verify }: RecordFileOrder, pages: PartPages): AsyncGenerator<Buffer> {
  switch (format) {
    case 'jsonl':
      return jsonlFile(pages, includeProvenance)
    case 'csv':
      return csvFile(pages, { includeProvenance, verify })
    case 'parquet':
      return parquetFile(pages, { includeProvenance, verify })
  }
}

/** Writes a file in bounded memory. Size and hash are those of the downloaded bytes. */
export async function writeFile(
  storage: Storage,
  key: string,
  chunks: AsyncGenerator<Buffer>,
  { compression }: Pick<ExportRequest, 'compression'>,
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

import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { type ExportManifest, exportStatementText } from '../../../../provenance/export/export-manifest.ts'
import { canonicalize, keyDocumentEntry, signedNote } from '../../../../provenance/index.ts'
import type { Storage } from '../../../storage/storage.ts'
import type { ProvenanceSigner, PublishedKey } from '../../keys/keys-types.ts'
import type { LogHead, RangeProof } from '../../log/log-types.ts'
import type { LogSpan } from '../../sealing/sealed-records-types.ts'
import type { ExportOrder } from '../exports-types.ts'

export interface ManifestParts {
  order: ExportOrder
  logName: string
  span: LogSpan
  head: LogHead
  proof: RangeProof
  file: ExportManifest['file']
  leftOut: number
  keys: readonly PublishedKey[]
  /** The hash of the seals; only with provenance. */
  sealsSha256: string | undefined
}

type ManifestHead = Omit<ExportManifest, 'statement' | 'seals'>

const sha256 = (bytes: Uint8Array) => hash('sha256', bytes, 'buffer')
const base64 = (hashes: readonly Uint8Array[]) => hashes.map((bytes) => Buffer.from(bytes).toString('base64'))

/** Writes the manifest. Its `seals`, if any, are streamed from their own file. */
export async function writeManifest(
  storage: Storage,
  key: string,
  parts: ManifestParts,
  signer: ProvenanceSigner,
  sealsKey: string | undefined,
): Promise<void> {
  const head = headOf(parts)
  const text = exportStatementText(parts.logName, head.export.job_id, hash('sha256', canonicalize(head)))
  const statement = signedNote(text, parts.logName, signer.keyId, signer.sign(Buffer.from(text)))
  const opening = JSON.stringify({ ...head, statement }, undefined, 2)
  if (sealsKey === undefined) return storage.write(key, Buffer.from(`${opening}\n`))
  const seals = await storage.read(sealsKey)
  if (seals === undefined) throw new Error(`${sealsKey} is not in the storage any more`)
  await storage.write(key, Readable.from(withSeals(opening, seals), { objectMode: false }))
}

async function* withSeals(opening: string, seals: Readable): AsyncGenerator<Buffer> {
  yield Buffer.from(`${opening.slice(0, -2)},\n  "seals": [\n`)
  for await (const piece of seals) yield piece as Buffer
  yield Buffer.from('\n]}\n')
}

function headOf({ order, logName, span, head, proof, file, leftOut, keys, sealsSha256 }: ManifestParts): ManifestHead {
  return {
    manifest_version: 1,
    export: {
      job_id: order.jobId,
      created_at: order.createdAt,
      format: order.format,
      compression: order.compression,
      filter: order.filter,
      record_types: order.recordTypes,
      include_provenance: order.includeProvenance,
    },
    log: {
      name: logName,
      from: span.from,
      to: span.to,
      tree_size: head.treeSize,
      checkpoint: head.checkpoint,
      left: base64(proof.left),
      right: base64(proof.right),
    },
    file,
    counts: { exported: file.rows, left_out: leftOut },
    keys: { keys: keys.map((key) => keyDocumentEntry(key, sha256)) },
    ...(sealsSha256 === undefined ? {} : { seals_sha256: sealsSha256 }),
  }
}

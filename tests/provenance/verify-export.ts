import { utf8 } from '../../provenance/bytes.ts'
import { ExportLines } from '../../provenance/export/export-lines.ts'
import { ExportVerifier, type VerificationReport } from '../../provenance/export/export-verifier.ts'
import { prepareManifest } from '../../provenance/export/prepared-manifest.ts'
import type { KeyRing } from '../../provenance/index.ts'
import { bufferedHash, digestOf } from '../../provenance/stream-hash.ts'
import type { SyncAsyncTask } from '../../provenance/sync-async-runner.ts'
import { runAsync, runSync } from '../../provenance/sync-async-runner.ts'
import { nodeCrypto, webCrypto } from './node-crypto.ts'

type Input = {
  readonly file: Uint8Array | string
  readonly manifest?: string
  readonly keys: KeyRing
  /** Of the pieces that the file comes in. */
  readonly chunkBytes?: number
}

/** The whole of a verification of JSONL, as one computation. */
export function* verification({ file, manifest, keys, chunkBytes = 1000 }: Input): SyncAsyncTask<VerificationReport> {
  const bytes = typeof file === 'string' ? utf8(file) : file
  const source = manifest === undefined ? undefined : utf8(manifest)
  const prepared = source && (yield* prepareManifest(() => piecesOf(source, chunkBytes), bufferedHash()))
  const verifier = new ExportVerifier(keys, prepared)
  const lines = new ExportLines(verifier)
  const hash = bufferedHash()
  for (const piece of piecesOf(bytes, chunkBytes)) {
    hash.update(piece)
    yield* lines.chunk(piece)
  }
  yield* lines.end()
  return yield* verifier.finish({ sizeBytes: bytes.length, sha256: yield* digestOf(hash) })
}

export function verifyExportSync(input: Input): VerificationReport {
  return runSync(verification(input), nodeCrypto)
}

export function verifyExport(input: Input): Promise<VerificationReport> {
  return runAsync(verification(input), webCrypto)
}

function* piecesOf(bytes: Uint8Array, size: number): Generator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

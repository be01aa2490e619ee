import { ExportLines } from './export-lines.ts'
import { ExportVerifier, type VerificationReport } from './export-verifier.ts'
import type { KeyRing } from './keys.ts'
import { prepareManifest } from './prepared-manifest.ts'
import { bufferedHash, digestOf } from './stream-hash.ts'
import { type AsyncCrypto, runAsync } from './sync-async-runner.ts'

/** An export in JSON Lines that was unpacked, in pieces of any size. */
export type ExportInput = {
  readonly file: Iterable<Uint8Array> | AsyncIterable<Uint8Array>
  /** Whole. Without it nothing is known of records that are not in the file. */
  readonly manifest?: Uint8Array | undefined
  /** The trusted ones. */
  readonly keys: KeyRing
}

/**
 * Verifies an export with WebCrypto. It takes the manifest whole, and the file twice its size where that cannot be
 * hashed in pieces; for files of any size see {@link ExportVerifier}.
 *
 * Throws ProvenanceError `manifest-malformed` when the manifest is none.
 */
export async function verifyExport(input: ExportInput, crypto: AsyncCrypto): Promise<VerificationReport> {
  const { manifest, keys } = input
  const prepared =
    manifest &&
    (await runAsync(
      prepareManifest(() => [manifest], bufferedHash()),
      crypto,
    ))
  const verifier = new ExportVerifier(keys, prepared)
  const lines = new ExportLines(verifier)
  const hash = bufferedHash()
  let sizeBytes = 0
  for await (const chunk of input.file) {
    hash.update(chunk)
    sizeBytes += chunk.length
    await runAsync(lines.chunk(chunk), crypto)
  }
  await runAsync(lines.end(), crypto)
  const sha256 = await runAsync(digestOf(hash), crypto)
  return runAsync(verifier.finish({ sizeBytes, sha256 }), crypto)
}

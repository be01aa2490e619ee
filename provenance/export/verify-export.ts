import type { KeyRing } from '../keys.ts'
import { bufferedHash, digestOf } from '../stream-hash.ts'
import { type AsyncCrypto, runAsync } from '../sync-async-runner.ts'
import { ExportLines } from './export-lines.ts'
import { ExportVerifier, type VerificationReport } from './export-verifier.ts'
import { prepareManifest } from './prepared-manifest.ts'

/** The unpacked file of an export in JSON Lines, in chunks of any size. */
export type ExportInput = {
  readonly file: Iterable<Uint8Array> | AsyncIterable<Uint8Array>
  /** The whole manifest. Without it, records that are absent from the file stay unnoticed. */
  readonly manifest?: Uint8Array | undefined
  /** The trusted keys. */
  readonly keys: KeyRing
}

/**
 * Verifies an export with WebCrypto. Holds the manifest in memory, and up to twice the size of the file if the crypto
 * has no incremental hash; use {@link ExportVerifier} for files of any size.
 *
 * Throws ProvenanceError `manifest-malformed` for a malformed manifest.
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

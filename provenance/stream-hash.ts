import { joinBytes } from './bytes.ts'
import { type SyncAsyncTask, sha256Of } from './sync-async-runner.ts'

/** Computes SHA-256 of chunks and retains none longer than needed. */
export type StreamHash = {
  update(bytes: Uint8Array): void
  digest(): Uint8Array | SyncAsyncTask<Uint8Array>
}

export function* digestOf(hash: StreamHash): SyncAsyncTask<Uint8Array> {
  const digest = hash.digest()
  return digest instanceof Uint8Array ? digest : yield* digest
}

/** Returns a hash that keeps all chunks, for crypto without incremental hashing, such as WebCrypto. */
export function bufferedHash(): StreamHash {
  const parts: Uint8Array[] = []
  return {
    update: (bytes) => parts.push(bytes.slice()),
    *digest() {
      return yield* sha256Of(joinBytes(parts))
    },
  }
}

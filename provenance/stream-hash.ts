import { joinBytes } from './bytes.ts'
import { type SyncAsyncTask, sha256Of } from './sync-async-runner.ts'

/** SHA-256 of what comes in pieces, none of which it keeps longer than it needs to. */
export type StreamHash = {
  update(bytes: Uint8Array): void
  digest(): Uint8Array | SyncAsyncTask<Uint8Array>
}

export function* digestOf(hash: StreamHash): SyncAsyncTask<Uint8Array> {
  const digest = hash.digest()
  return digest instanceof Uint8Array ? digest : yield* digest
}

/** For crypto that cannot hash in pieces, such as WebCrypto: keeps all of them. */
export function bufferedHash(): StreamHash {
  const parts: Uint8Array[] = []
  return {
    update: (bytes) => parts.push(bytes.slice()),
    *digest() {
      return yield* sha256Of(joinBytes(parts))
    },
  }
}

/**
 * A verification is written once, as a generator that requests hashes and signature checks. The runtime's crypto drives
 * it: synchronous in Node (40 times faster there), promises in a browser.
 */
type CryptoRequest =
  | { readonly kind: 'sha256'; readonly bytes: Uint8Array }
  | {
      readonly kind: 'ed25519'
      readonly publicKey: Uint8Array
      readonly message: Uint8Array
      readonly signature: Uint8Array
    }

export type SyncAsyncTask<Result> = Generator<CryptoRequest, Result, Uint8Array | boolean>

/** `publicKey` is the raw 32 bytes, `signature` the raw 64 (RFC 8032). A malformed key is `false`, not an exception. */
export type SyncCrypto = {
  readonly sha256: (bytes: Uint8Array) => Uint8Array
  readonly verifyEd25519: (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array) => boolean
}

/** The same as {@link SyncCrypto}, for WebCrypto. */
export type AsyncCrypto = {
  readonly sha256: (bytes: Uint8Array) => Promise<Uint8Array>
  readonly verifyEd25519: (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array) => Promise<boolean>
}

export function* sha256Of(bytes: Uint8Array): SyncAsyncTask<Uint8Array> {
  return (yield { kind: 'sha256', bytes }) as Uint8Array
}

export function* isSignedBy(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): SyncAsyncTask<boolean> {
  return (yield { kind: 'ed25519', publicKey, message, signature }) as boolean
}

export function runSync<Result>(computation: SyncAsyncTask<Result>, crypto: SyncCrypto): Result {
  let step = computation.next()
  while (!step.done) {
    const request = step.value
    step = computation.next(
      request.kind === 'sha256'
        ? crypto.sha256(request.bytes)
        : crypto.verifyEd25519(request.publicKey, request.message, request.signature),
    )
  }
  return step.value
}

export async function runAsync<Result>(computation: SyncAsyncTask<Result>, crypto: AsyncCrypto): Promise<Result> {
  let step = computation.next()
  while (!step.done) {
    const request = step.value
    step = computation.next(
      request.kind === 'sha256'
        ? await crypto.sha256(request.bytes)
        : await crypto.verifyEd25519(request.publicKey, request.message, request.signature),
    )
  }
  return step.value
}

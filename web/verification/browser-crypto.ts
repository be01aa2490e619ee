import type { AsyncCrypto } from '../../provenance/index.ts'

export interface BrowserCrypto extends AsyncCrypto {
  /** The implementation that checks signatures: the browser itself, or a library if it cannot. */
  readonly signaturesBy: 'browser' | 'library'
}

/** Signals that the page may not use WebCrypto, which browsers offer only over https and on localhost. */
export class NoCrypto extends Error {
  override readonly name = 'NoCrypto'

  constructor() {
    super('This browser offers no cryptography to this page, because the page was not loaded over https.')
  }
}

let made: Promise<BrowserCrypto> | undefined

/**
 * Returns SHA-256 and Ed25519 of this browser, for the provenance core.
 *
 * @throws NoCrypto if the page may not use WebCrypto
 */
export function browserCrypto(): Promise<BrowserCrypto> {
  made ??= cryptoOf(globalThis.crypto?.subtle)
  return made
}

/** Works like {@link browserCrypto}, for a given WebCrypto, which pages without https lack. */
export async function cryptoOf(subtle: SubtleCrypto | undefined): Promise<BrowserCrypto> {
  if (!subtle) throw new NoCrypto()
  const sha256: AsyncCrypto['sha256'] = async (bytes) => new Uint8Array(await subtle.digest('SHA-256', own(bytes)))
  const isNative = await hasEd25519(subtle)
  return isNative
    ? { sha256, verifyEd25519: nativeVerifier(subtle), signaturesBy: 'browser' }
    : { sha256, verifyEd25519: await libraryVerifier(), signaturesBy: 'library' }
}

/** Returns false in some browsers before 2025. */
async function hasEd25519(subtle: SubtleCrypto): Promise<boolean> {
  try {
    // Any valid point: that of the first test of RFC 8032, section 7.1.
    const point = Uint8Array.from(
      'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a'.match(/../g)!,
      (hex) => Number.parseInt(hex, 16),
    )
    await subtle.importKey('raw', point, 'Ed25519', false, ['verify'])
    return true
  } catch {
    return false
  }
}

function nativeVerifier(subtle: SubtleCrypto): AsyncCrypto['verifyEd25519'] {
  // Caches imported keys: a log has few, and a page of records needs the same one a thousand times.
  const imported = new Map<string, Promise<CryptoKey>>()
  return async (publicKey, message, signature) => {
    const name = publicKey.join()
    const key = imported.get(name) ?? subtle.importKey('raw', own(publicKey), 'Ed25519', false, ['verify'])
    imported.set(name, key)
    try {
      return await subtle.verify('Ed25519', await key, own(signature), own(message))
    } catch (error) {
      // A key that is not a point of the curve verifies nothing.
      if (error instanceof DOMException && error.name === 'DataError') return false
      throw error
    }
  }
}

async function libraryVerifier(): Promise<AsyncCrypto['verifyEd25519']> {
  const { verifyAsync } = await import('@noble/ed25519')
  // Follows RFC 8032, like the browsers, not the laxer rules of ZIP 215.
  return (publicKey, message, signature) =>
    verifyAsync(signature, message, publicKey, { zip215: false }).catch(() => false)
}

/** Copies the bytes if needed: WebCrypto rejects views of memory that may be shared. */
function own(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes)
}

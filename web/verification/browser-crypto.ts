import type { AsyncCrypto } from '../../provenance/index.ts'

export interface BrowserCrypto extends AsyncCrypto {
  /** Who checks signatures: the browser itself, or a library where it cannot. */
  readonly signaturesBy: 'browser' | 'library'
}

/** Pages get cryptography only over https, and from the machine itself. */
export class NoCrypto extends Error {
  override readonly name = 'NoCrypto'

  constructor() {
    super('This browser offers no cryptography to this page, because the page was not loaded over https.')
  }
}

let made: Promise<BrowserCrypto> | undefined

/**
 * SHA-256 and Ed25519 of this browser, for the provenance core.
 *
 * @throws NoCrypto where the page may not use WebCrypto
 */
export function browserCrypto(): Promise<BrowserCrypto> {
  made ??= cryptoOf(globalThis.crypto?.subtle)
  return made
}

/** {@link browserCrypto} over a given WebCrypto, which pages outside https do not have. */
export async function cryptoOf(subtle: SubtleCrypto | undefined): Promise<BrowserCrypto> {
  if (!subtle) throw new NoCrypto()
  const sha256: AsyncCrypto['sha256'] = async (bytes) => new Uint8Array(await subtle.digest('SHA-256', own(bytes)))
  const isNative = await hasEd25519(subtle)
  return isNative
    ? { sha256, verifyEd25519: nativeVerifier(subtle), signaturesBy: 'browser' }
    : { sha256, verifyEd25519: await libraryVerifier(), signaturesBy: 'library' }
}

/** Browsers before 2025 may lack it. */
async function hasEd25519(subtle: SubtleCrypto): Promise<boolean> {
  try {
    // Any point will do: that of the first test of RFC 8032, section 7.1.
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
  // A log has few keys, and a page of records asks for the same one a thousand times.
  const imported = new Map<string, Promise<CryptoKey>>()
  return async (publicKey, message, signature) => {
    const name = publicKey.join()
    const key = imported.get(name) ?? subtle.importKey('raw', own(publicKey), 'Ed25519', false, ['verify'])
    imported.set(name, key)
    try {
      return await subtle.verify('Ed25519', await key, own(signature), own(message))
    } catch (error) {
      // A key that is no point of the curve signs nothing.
      if (error instanceof DOMException && error.name === 'DataError') return false
      throw error
    }
  }
}

async function libraryVerifier(): Promise<AsyncCrypto['verifyEd25519']> {
  const { verifyAsync } = await import('@noble/ed25519')
  // RFC 8032, as the browsers' own, and not the laxer rules of ZIP 215.
  return (publicKey, message, signature) =>
    verifyAsync(signature, message, publicKey, { zip215: false }).catch(() => false)
}

/** WebCrypto takes no views of memory that may be shared. */
function own(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes)
}

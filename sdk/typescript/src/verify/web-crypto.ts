import type { AsyncCrypto } from '../../../../provenance/index.ts'

type Subtle = Crypto['subtle']

/** Returns SHA-256 and Ed25519 of WebCrypto, for the provenance core. */
export function webCrypto(subtle: Subtle): AsyncCrypto {
  return {
    sha256: async (bytes) => new Uint8Array(await subtle.digest('SHA-256', own(bytes))),
    verifyEd25519: ed25519Of(subtle),
  }
}

/** Returns false in some browsers before 2025. */
export async function hasEd25519(subtle: Subtle): Promise<boolean> {
  try {
    // Any valid point: that of the first test of RFC 8032, section 7.1.
    const hex = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a'
    const point = Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
    await subtle.importKey('raw', point, 'Ed25519', false, ['verify'])
    return true
  } catch {
    return false
  }
}

function ed25519Of(subtle: Subtle): AsyncCrypto['verifyEd25519'] {
  // Caches imported keys: a log has few, and a page of records needs the same one a thousand times.
  const imported = new Map<string, ReturnType<Subtle['importKey']>>()
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

/** Copies the bytes if needed: WebCrypto rejects views of memory that may be shared. */
function own(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes)
}

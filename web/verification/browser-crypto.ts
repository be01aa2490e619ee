import type { AsyncCrypto } from '../../provenance/index.ts'
import { hasEd25519, webCrypto } from '../../sdk/typescript/src/verify/web-crypto.ts'

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
  const native = webCrypto(subtle)
  return (await hasEd25519(subtle))
    ? { ...native, signaturesBy: 'browser' }
    : { ...native, verifyEd25519: await libraryVerifier(), signaturesBy: 'library' }
}

async function libraryVerifier(): Promise<AsyncCrypto['verifyEd25519']> {
  const { verifyAsync } = await import('@noble/ed25519')
  // Follows RFC 8032, like the browsers, not the laxer rules of ZIP 215.
  return (publicKey, message, signature) =>
    verifyAsync(signature, message, publicKey, { zip215: false }).catch(() => false)
}

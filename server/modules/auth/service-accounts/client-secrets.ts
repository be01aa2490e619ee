import { createHmac, timingSafeEqual } from 'node:crypto'
import { randomText } from '../../../secrets/random-text.ts'

const clientIdLength = 24
/** 43 characters out of 62 hold 256 bits. */
const secretLength = 44

/** Returns a new client id: `sa` and 24 letters and digits. */
export function makeClientId(): string {
  return `sa${randomText(clientIdLength)}`
}

/** Returns a new secret: `hubs` and 44 letters and digits. Secret scanners recognise the prefix. */
export function makeClientSecret(): string {
  return `hubs${randomText(secretLength)}`
}

export function isClientId(text: string): boolean {
  return /^[A-Za-z0-9]{1,64}$/.test(text)
}

/** Hashes a secret with a key. Secrets have the entropy of a key, so a slow hash would only slow tokens down. */
export function hashClientSecret(key: Buffer, clientId: string, secret: string): Buffer {
  return createHmac('sha256', key).update(`${clientId}\0${secret}`).digest()
}

/** Compares with every hash, so that the time reveals neither which one matched nor how many there are. */
export function matchesAny(hash: Buffer, stored: readonly Buffer[]): boolean {
  // An unknown client has no stored secret; the dummy keeps the work the same.
  const candidates = stored.length > 0 ? stored : [Buffer.alloc(hash.length)]
  let matches = 0
  for (const candidate of candidates) matches |= Number(timingSafeEqual(hash, candidate))
  return matches === 1 && stored.length > 0
}

import { hash, randomBytes } from 'node:crypto'
import { loginMinutes } from '../../../../contract/limits.ts'
import { decryptSecret, deriveKey, encryptSecret } from '../../../secrets/encryption.ts'
import type { LoginSecrets } from '../../identity/identity-types.ts'

/** A login that has begun and not finished. It exists only in the browser's cookie, encrypted. */
export interface LoginTransaction extends LoginSecrets {
  tenant: string
  connectionId: string
  returnTo: string
  /** Milliseconds since 1970. */
  expiresAtMs: number
}

export interface LoginTransactions {
  begin(login: Pick<LoginTransaction, 'tenant' | 'connectionId' | 'returnTo'>): LoginTransaction
  /** Returns the encrypted transaction in base64url. */
  encrypt(transaction: LoginTransaction): string
  /** Decrypts a transaction; returns undefined for one that is foreign, altered or expired. */
  decrypt(sealed: string): LoginTransaction | undefined
}

const context = 'login transaction'
const secretBytes = 32

export function createLoginTransactions(masterKey: Buffer, nowMs: () => number = Date.now): LoginTransactions {
  const key = deriveKey(masterKey, 'logins at identity providers')
  const secret = () => randomBytes(secretBytes).toString('base64url')
  return {
    begin: (login) => ({
      ...login,
      state: secret(),
      nonce: secret(),
      codeVerifier: secret(),
      expiresAtMs: nowMs() + loginMinutes * 60_000,
    }),
    encrypt: (transaction) =>
      encryptSecret(key, Buffer.from(JSON.stringify(transaction)), context).toString('base64url'),
    decrypt(sealed) {
      try {
        const text = decryptSecret(key, Buffer.from(sealed, 'base64url'), context).toString()
        const transaction = JSON.parse(text) as LoginTransaction
        return transaction.expiresAtMs > nowMs() ? transaction : undefined
      } catch {
        return undefined
      }
    },
  }
}

/** Returns the stored form of a spent state. */
export function stateHash(state: string): Buffer {
  return hash('sha256', state, 'buffer')
}

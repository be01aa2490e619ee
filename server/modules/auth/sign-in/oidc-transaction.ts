import { hash, randomBytes } from 'node:crypto'
import { loginMinutes } from '../../../../contract/limits.ts'
import { decryptSecret, deriveKey, encryptSecret } from '../../../secrets/encryption.ts'
import type { LoginSecrets } from '../../identity/identity-types.ts'

/** A login between its beginning and its end. It lives in the browser's cookie only, sealed. */
export interface LoginTransaction extends LoginSecrets {
  tenant: string
  connectionId: string
  returnTo: string
  /** Milliseconds since 1970. */
  expiresAtMs: number
}

export interface LoginTransactions {
  begin(login: Pick<LoginTransaction, 'tenant' | 'connectionId' | 'returnTo'>): LoginTransaction
  /** base64url */
  seal(transaction: LoginTransaction): string
  /** Undefined for what is not one of ours, was changed, or has expired. */
  open(sealed: string): LoginTransaction | undefined
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
    seal: (transaction) => encryptSecret(key, Buffer.from(JSON.stringify(transaction)), context).toString('base64url'),
    open(sealed) {
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

/** What is kept of a state once it is spent. */
export function stateHash(state: string): Buffer {
  return hash('sha256', state, 'buffer')
}

import { createHmac } from 'node:crypto'
import type { Tenant } from '../../../http/caller.ts'
import { deriveKey } from '../../../secrets/encryption.ts'
import { randomText } from '../../../secrets/random-text.ts'

/** 43 characters out of 62 hold 256 bits. */
const secretLength = 44

/**
 * Makes and hashes the bearer tokens of directories in push mode. They have the entropy of a key, so a keyed hash
 * protects them.
 */
export interface ScimTokens {
  /** Returns a new token: `scim` and 44 letters and digits. Secret scanners recognise the prefix. */
  make(): string
  /** Hashes a token of the tenant. The same token of another tenant has another hash. */
  hash(tenant: Pick<Tenant, 'slug'>, token: string): Buffer
}

export function createScimTokens(masterKey: Buffer): ScimTokens {
  const key = deriveKey(masterKey, 'bearer tokens of directories')
  return {
    make: () => `scim${randomText(secretLength)}`,
    hash: (tenant, token) => createHmac('sha256', key).update(`${tenant.slug}\0${token}`).digest(),
  }
}

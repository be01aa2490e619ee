import { createHmac } from 'node:crypto'
import type { Tenant } from '../../../http/caller.ts'
import { deriveKey } from '../../../secrets/encryption.ts'
import { randomText } from '../../../secrets/random-text.ts'

/** 43 characters of 62 are 256 bits. */
const secretLength = 44

/** Bearer tokens that directories push with. They have the entropy of a key, so a keyed hash protects them. */
export interface ScimTokens {
  /** `scim` and 44 letters and digits; the beginning lets secret scanners find it. */
  make(): string
  /** Of a token of the tenant: one that comes from another hashes to something else. */
  hash(tenant: Pick<Tenant, 'slug'>, token: string): Buffer
}

export function createScimTokens(masterKey: Buffer): ScimTokens {
  const key = deriveKey(masterKey, 'bearer tokens of directories')
  return {
    make: () => `scim${randomText(secretLength)}`,
    hash: (tenant, token) => createHmac('sha256', key).update(`${tenant.slug}\0${token}`).digest(),
  }
}

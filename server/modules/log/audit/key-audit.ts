import {
  type KeyRing,
  keyIdOf,
  ProvenanceError,
  type VerifierKey,
  verifySuccessionSync,
} from '../../../../provenance/index.ts'
import { logCrypto } from '../log-crypto.ts'
import type { PublicKeyRow } from './audit-store.ts'
import type { Findings } from './findings.ts'

export interface LogKeys {
  /** Those to be trusted. */
  keys: KeyRing
  /** Why the others are not, by key id. */
  distrusted: ReadonlyMap<string, string>
}

/**
 * The published keys of a log. Trusted is its first one, which nothing introduces, and what follows from it by notes that
 * the key before has signed.
 *
 * @param rows oldest first
 */
export function auditKeys(rows: readonly PublicKeyRow[], findings: Findings): LogKeys {
  const ring = new Map<string, VerifierKey>()
  for (const row of rows) {
    if (idOf(row) === row.key_id) ring.set(row.key_id, keyOf(row))
    else findings.add(`key:${row.key_id}`, 'its id is not that of its name and its public half')
  }
  const first = [...ring.values()].find((key) => key.succession === undefined)
  const { trusted, distrusted } = verifySuccessionSync(ring, first ? [first.keyId] : [], logCrypto)
  if (first === undefined) findings.add('keys', 'the first key of the log is not there')
  for (const [keyId, why] of distrusted) findings.add(`key:${keyId}`, why)
  return { keys: new Map([...ring].filter(([keyId]) => trusted.has(keyId))), distrusted }
}

function keyOf(row: PublicKeyRow): VerifierKey {
  return {
    keyId: row.key_id,
    name: row.name,
    publicKey: row.public_key,
    createdAt: row.created_at,
    ...(row.retired_at !== null && { retiredAt: row.retired_at }),
    ...(row.succession !== null && { succession: row.succession }),
  }
}

function idOf(row: PublicKeyRow): string | undefined {
  try {
    return keyIdOf(row.name, row.public_key, logCrypto.sha256)
  } catch (error) {
    if (error instanceof ProvenanceError) return undefined
    throw error
  }
}

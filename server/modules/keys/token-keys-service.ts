import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { calculateJwkThumbprint } from 'jose'
import { serviceTokenSeconds } from '../../../contract/limits.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { Database, DatabaseLog } from '../../db/database.ts'
import { deriveKey, seal, unseal } from '../../secrets/sealing.ts'
import { StartupError } from '../../startup-error.ts'
import { insertTokenKey, lockTokenKeys, type TokenKeyRow, tokenKeys } from './keys-store.ts'
import type { PublicTokenKey, TokenAlgorithm, TokenKeys, TokenSigningKey } from './keys-types.ts'

const refreshMs = 5_000
/** Before a new key signs, every process and everyone who keeps the public keys for a minute has it. */
const signingDelayMs = 60_000
/** A retired key verifies until the last token it signed has expired. */
const verificationMs = serviceTokenSeconds * 1000 + signingDelayMs

interface LoadedKey extends TokenSigningKey {
  publicJwk: PublicTokenKey
  createdAtMs: number
  retiredAtMs: number
}

export interface TokenKeyRing extends TokenKeys {
  /** A JSON Web Key Set (RFC 7517, section 5) of every key that may verify. */
  publicKeySet(): { keys: PublicTokenKey[] }
  /** Reads the keys anew. It runs by itself every five seconds. */
  refresh(): Promise<void>
  close(): void
}

/**
 * Loads the keys of access tokens, and makes the first one where there is none.
 *
 * @throws StartupError when the keys do not open under this master key
 */
export async function openTokenKeyRing(deps: {
  database: Database
  masterKey: Buffer
  log: DatabaseLog
  now?: () => number
}): Promise<TokenKeyRing> {
  const now = deps.now ?? Date.now
  const sealingKey = deriveKey(deps.masterKey, 'token keys')
  await ensureTokenKey(deps.database, sealingKey)
  const load = async (): Promise<Map<string, LoadedKey>> => {
    const rows = await deps.database.withRegistry(tokenKeys)
    return new Map(rows.map((row) => [row.key_id, openKey(row, sealingKey)]))
  }
  let keys = await load()
  const usable = (key: LoadedKey) => key.retiredAtMs + verificationMs > now()
  const refresh = async () => {
    keys = await load()
  }
  const timer = setInterval(() => {
    refresh().catch((error: unknown) => deps.log.warn({ err: error }, 'token keys could not be read anew'))
  }, refreshMs)
  timer.unref()

  return {
    signingKey() {
      const active = [...keys.values()].filter((key) => key.retiredAtMs === Number.POSITIVE_INFINITY)
      const settled = active.findLast((key) => key.createdAtMs + signingDelayMs <= now())
      const key = settled ?? active[0]
      if (!key) throw new Error('every token key is retired')
      return key
    },
    verificationKey(keyId) {
      const key = keys.get(keyId)
      return key && usable(key) ? key : undefined
    },
    publicKeySet: () => ({ keys: [...keys.values()].filter(usable).map((key) => key.publicJwk) }),
    refresh,
    close: () => clearInterval(timer),
  }
}

async function ensureTokenKey(database: Database, sealingKey: Buffer): Promise<void> {
  await database.withRegistry(async (tx) => {
    await lockTokenKeys(tx)
    const rows = await tokenKeys(tx)
    if (rows.some((row) => row.retired_at === null)) return
    await insertTokenKey(tx, await makeKey(sealingKey))
  })
}

async function makeKey(sealingKey: Buffer): Promise<TokenKeyRow> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm: TokenAlgorithm = 'ES256'
  const jwk = publicKey.export({ format: 'jwk' })
  const keyId = await calculateJwkThumbprint(jwk as { kty: 'EC'; crv: string; x: string; y: string })
  return {
    key_id: keyId,
    algorithm,
    public_jwk: { ...jwk, kid: keyId, alg: algorithm, use: 'sig' },
    private_key_sealed: seal(sealingKey, privateKey.export({ format: 'der', type: 'pkcs8' }), contextOf(keyId)),
    created_at: formatTimestamp(Date.now()),
    retired_at: null,
  }
}

function openKey(row: TokenKeyRow, sealingKey: Buffer): LoadedKey {
  const privateKey = openPrivateKey(row, sealingKey)
  const publicKey = createPublicKey(privateKey)
  return {
    keyId: row.key_id,
    algorithm: algorithmOf(row),
    privateKey,
    publicKey,
    // Of the private half, so that a changed row cannot publish a key of somebody else.
    publicJwk: publicJwk(publicKey, row),
    createdAtMs: Date.parse(row.created_at),
    retiredAtMs: row.retired_at === null ? Number.POSITIVE_INFINITY : Date.parse(row.retired_at),
  }
}

function publicJwk(publicKey: KeyObject, row: TokenKeyRow): PublicTokenKey {
  const { kty = '', crv, x, y, n, e } = publicKey.export({ format: 'jwk' })
  const members = Object.entries({ crv, x, y, n, e }).filter(([, value]) => value !== undefined)
  return { kty, kid: row.key_id, alg: row.algorithm, use: 'sig', ...Object.fromEntries(members) }
}

function openPrivateKey(row: TokenKeyRow, sealingKey: Buffer): KeyObject {
  try {
    const pkcs8 = unseal(sealingKey, row.private_key_sealed, contextOf(row.key_id))
    return createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })
  } catch (cause) {
    throw new StartupError(
      'The keys in this database were sealed under another master key.',
      'Start with the HUB_MASTER_KEY, or with the master.key file of the data directory, that the database was made with.',
      { cause },
    )
  }
}

function algorithmOf(row: TokenKeyRow): TokenAlgorithm {
  if (row.algorithm === 'ES256' || row.algorithm === 'RS256') return row.algorithm
  throw new StartupError(
    `The token key ${row.key_id} has the algorithm ${row.algorithm}, which this version does not know.`,
    'Start the version of the Hub that made it, or a later one.',
  )
}

function contextOf(keyId: string): string {
  return `token key ${keyId}`
}

import { serviceTokenSeconds } from '../../../contract/limits.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { Database, DatabaseLog } from '../../db/database.ts'
import { createSnapshotPoller } from '../../db/snapshot-poller.ts'
import { deriveKey } from '../../secrets/encryption.ts'
import { insertTokenKey, lockTokenKeys, retireTokenKeys, type TokenKeyRow, tokenKeys } from './keys-store.ts'
import type { PublicTokenKey, TokenKeyRotator, TokenKeys, TokenSigningKey } from './keys-types.ts'
import { makeTokenKeyRow, openTokenKey } from './token-key-row.ts'

/** Before a new key signs, every process and everyone who keeps the public keys for a minute has it. */
const signingDelayMsDefault = 60_000
const refreshMsMax = 5_000

interface RingKey extends TokenSigningKey {
  publicJwk: PublicTokenKey
  signsFromMs: number
  signsUntilMs: number
}

export interface TokenKeyRing extends TokenKeys, TokenKeyRotator {
  /** A JSON Web Key Set (RFC 7517, section 5) of every key that may verify. */
  publicKeySet(): { keys: PublicTokenKey[] }
  /** Reads the keys anew. It runs by itself every five seconds. */
  refresh(): Promise<void>
  close(): Promise<void>
}

export interface TokenKeyRingOptions {
  database: Database
  masterKey: Buffer
  log: DatabaseLog
  now?: () => number
  /** How long a new key is published before it signs; all processes must agree. Shorter for tests. */
  signingDelayMs?: number | undefined
}

/**
 * Loads the keys of access tokens, and makes the first one where there is none.
 *
 * @throws StartupError when the keys do not open under this master key
 */
export async function openTokenKeyRing(options: TokenKeyRingOptions): Promise<TokenKeyRing> {
  const { database, log, now = Date.now, signingDelayMs = signingDelayMsDefault } = options
  const sealingKey = deriveKey(options.masterKey, 'token keys')
  /** Of a retired key: until its last token has expired, by the clock of any process. */
  const verifiesUntilMs = (signsUntilMs: number) => signsUntilMs + serviceTokenSeconds * 1000 + signingDelayMs
  /** Oldest first. */
  let keys = new Map<string, RingKey>()

  function take(rows: readonly TokenKeyRow[]): void {
    const known = keys
    keys = new Map(
      rows.map((row) => [row.key_id, withTimes(row, known.get(row.key_id) ?? openTokenKey(row, sealingKey))]),
    )
    if (known.size === 0) return
    for (const { keyId, algorithm, signsFromMs } of keys.values()) {
      if (known.has(keyId)) continue
      log.info({ key_id: keyId, algorithm, signs_from: formatTimestamp(signsFromMs) }, 'there is a new token key')
    }
  }

  function withTimes(row: TokenKeyRow, key: TokenSigningKey & { publicJwk: PublicTokenKey }): RingKey {
    return Object.assign(key, {
      signsFromMs: Date.parse(row.created_at) + signingDelayMs,
      signsUntilMs: row.retired_at === null ? Number.POSITIVE_INFINITY : Date.parse(row.retired_at),
    })
  }

  function signingKey(): RingKey {
    const active = [...keys.values()].filter((key) => now() < key.signsUntilMs)
    const settled = active.findLast((each) => each.signsFromMs <= now())
    // The very first key signs at once, for nobody has kept any other: it is the one that others take the place of.
    const key = settled ?? active.find((each) => active.every(({ signsUntilMs }) => each.signsUntilMs <= signsUntilMs))
    if (!key) throw new Error('every token key is retired')
    return key
  }

  /** The one that signs now, or will. */
  function newestKey(): RingKey {
    return [...keys.values()].findLast((key) => key.signsUntilMs === Number.POSITIVE_INFINITY) ?? signingKey()
  }

  const mayVerify = (key: RingKey) => now() < verifiesUntilMs(key.signsUntilMs)

  await ensureTokenKey(database, sealingKey, now())
  const lookout = createSnapshotPoller({
    database,
    log,
    subject: 'token keys',
    everyMs: Math.min(refreshMsMax, signingDelayMs / 4),
    // A key that was made since signs later than that.
    freshMs: signingDelayMs / 2,
    read: tokenKeys,
    take,
    now: options.now,
  })
  await lookout.look()
  lookout.start()

  return {
    signingKey,
    verificationKey(keyId) {
      const key = keys.get(keyId)
      return key && mayVerify(key) ? key : undefined
    },
    upToDate: () => (lookout.isFresh() ? undefined : lookout.fresh()),
    publicKeySet: () => ({ keys: [...keys.values()].filter(mayVerify).map((key) => key.publicJwk) }),
    refresh: () => lookout.look(),
    async rotate(wanted) {
      await lookout.look()
      const algorithm = wanted ?? newestKey().algorithm
      const made = await makeTokenKeyRow(sealingKey, algorithm)
      const { signsFrom, retired } = await database.withRegistry(async (tx) => {
        await lockTokenKeys(tx)
        const signing = (await tokenKeys(tx)).filter((row) => row.retired_at === null)
        const createdAtMs = now()
        const from = formatTimestamp(createdAtMs + signingDelayMs)
        await insertTokenKey(tx, { ...made, created_at: formatTimestamp(createdAtMs) })
        await retireTokenKeys(
          tx,
          signing.map((row) => row.key_id),
          from,
        )
        return { signsFrom: from, retired: signing }
      })
      await lookout.look()
      return {
        key_id: made.key_id,
        algorithm,
        signs_from: signsFrom,
        retired: retired.map((row) => ({
          key_id: row.key_id,
          algorithm: row.algorithm,
          signs_until: signsFrom,
          verifies_until: formatTimestamp(verifiesUntilMs(Date.parse(signsFrom))),
        })),
      }
    },
    close: () => lookout.close(),
  }
}

async function ensureTokenKey(database: Database, sealingKey: Buffer, nowMs: number): Promise<void> {
  await database.withRegistry(async (tx) => {
    await lockTokenKeys(tx)
    const rows = await tokenKeys(tx)
    if (rows.some((row) => row.retired_at === null)) return
    const made = await makeTokenKeyRow(sealingKey, 'ES256')
    await insertTokenKey(tx, { ...made, created_at: formatTimestamp(nowMs) })
  })
}

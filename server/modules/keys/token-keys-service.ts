import { serviceTokenSeconds } from '../../../contract/limits.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { Database, DatabaseLog } from '../../db/database.ts'
import { createSnapshotPoller } from '../../db/snapshot-poller.ts'
import { deriveKey } from '../../secrets/encryption.ts'
import { insertTokenKey, lockTokenKeys, retireTokenKeys, type TokenKeyRow, tokenKeys } from './keys-store.ts'
import type { PublicTokenKey, TokenKeyRotator, TokenKeys, TokenSigningKey } from './keys-types.ts'
import { makeTokenKeyRow, openTokenKey } from './token-key.ts'

/**
 * Default delay before a new key signs. By then every process, and every client that caches the public keys for a
 * minute, has it.
 */
const signingDelayMsDefault = 60_000
const refreshMsMax = 5_000

interface RingKey extends TokenSigningKey {
  publicJwk: PublicTokenKey
  signsFromMs: number
  signsUntilMs: number
}

export interface TokenKeyRing extends TokenKeys, TokenKeyRotator {
  /** Returns the JSON Web Key Set (RFC 7517, section 5) of every key that may verify. */
  publicKeySet(): { keys: PublicTokenKey[] }
  /** Reads the keys again. Also runs by itself every five seconds. */
  refresh(): Promise<void>
  close(): Promise<void>
}

export interface TokenKeyRingOptions {
  database: Database
  masterKey: Buffer
  log: DatabaseLog
  now?: () => number
  /**
   * Milliseconds for which a new key is published before it signs; must be equal in all processes. Shorter for tests.
   */
  signingDelayMs?: number | undefined
}

/**
 * Loads the keys of access tokens, and creates the first one on an empty database.
 *
 * @throws StartupError if the keys do not decrypt under this master key
 */
export async function openTokenKeyRing(options: TokenKeyRingOptions): Promise<TokenKeyRing> {
  const { database, log, now = Date.now, signingDelayMs = signingDelayMsDefault } = options
  const sealingKey = deriveKey(options.masterKey, 'token keys')
  /**
   * Returns the time until which a retired key verifies: its last token has then expired, by the clock of any process.
   */
  const verifiesUntilMs = (signsUntilMs: number) => signsUntilMs + serviceTokenSeconds * 1000 + signingDelayMs
  /** The keys, oldest first. */
  let keys = new Map<string, RingKey>()

  function take(rows: readonly TokenKeyRow[]): void {
    const known = keys
    keys = new Map(
      rows.map((row) => [row.key_id, withTimes(row, known.get(row.key_id) ?? openTokenKey(row, sealingKey))]),
    )
    if (known.size === 0) return
    for (const { keyId, algorithm, signsFromMs } of keys.values()) {
      if (known.has(keyId)) continue
      log.info({ key_id: keyId, algorithm, signs_from: formatTimestamp(signsFromMs) }, 'a new token key is active')
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
    // The first key signs at once, because no client has cached another. It is the one that later keys replace.
    const key = settled ?? active.find((each) => active.every(({ signsUntilMs }) => each.signsUntilMs <= signsUntilMs))
    if (!key) throw new Error('every token key is retired')
    return key
  }

  /** Returns the key that signs now, or will sign next. */
  function newestKey(): RingKey {
    return [...keys.values()].findLast((key) => key.signsUntilMs === Number.POSITIVE_INFINITY) ?? signingKey()
  }

  const mayVerify = (key: RingKey) => now() < verifiesUntilMs(key.signsUntilMs)

  await ensureTokenKey(database, sealingKey, now())
  const poller = createSnapshotPoller({
    database,
    log,
    subject: 'token keys',
    everyMs: Math.min(refreshMsMax, signingDelayMs / 4),
    // A key created since the last read signs later than that.
    freshMs: signingDelayMs / 2,
    read: tokenKeys,
    take,
    now: options.now,
  })
  await poller.look()
  poller.start()

  return {
    signingKey,
    verificationKey(keyId) {
      const key = keys.get(keyId)
      return key && mayVerify(key) ? key : undefined
    },
    upToDate: () => (poller.isFresh() ? undefined : poller.fresh()),
    publicKeySet: () => ({ keys: [...keys.values()].filter(mayVerify).map((key) => key.publicJwk) }),
    refresh: () => poller.look(),
    async rotate(wanted) {
      await poller.look()
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
      await poller.look()
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
    close: () => poller.close(),
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

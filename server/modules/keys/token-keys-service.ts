import { serviceTokenSeconds } from '../../../contract/limits.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { Database, DatabaseLog } from '../../db/database.ts'
import { createSnapshotPoller, type SnapshotPoller } from '../../db/snapshot-poller.ts'
import type { ModuleParts } from '../../module-parts.ts'
import { deriveKey } from '../../secrets/encryption.ts'
import { insertTokenKey, lockTokenKeys, retireTokenKeys, type TokenKeyRow, tokenKeys } from './keys-store.ts'
import type { PublicTokenKey, TokenAlgorithm, TokenKeyRotation, TokenKeys, TokenSigningKey } from './keys-types.ts'
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

export interface TokenKeyRingOptions extends Pick<ModuleParts, 'database' | 'masterKey' | 'log'> {
  now?: () => number
  /**
   * Milliseconds for which a new key is published before it signs; must be equal in all processes. Shorter for tests.
   */
  signingDelayMs?: number | undefined
}

/** Holds the keys of access tokens, and reads them again every few seconds. */
export class TokenKeyRing implements TokenKeys {
  readonly #database: Database
  readonly #log: DatabaseLog
  readonly #sealingKey: Buffer
  readonly #now: () => number
  readonly #signingDelayMs: number
  readonly #poller: SnapshotPoller
  /** The keys, oldest first. */
  #keys = new Map<string, RingKey>()

  private constructor(options: TokenKeyRingOptions) {
    const { database, masterKey, log, now, signingDelayMs = signingDelayMsDefault } = options
    this.#database = database
    this.#log = log
    this.#sealingKey = deriveKey(masterKey, 'token keys')
    this.#now = now ?? Date.now
    this.#signingDelayMs = signingDelayMs
    this.#poller = createSnapshotPoller({
      database,
      log,
      subject: 'token keys',
      everyMs: Math.min(refreshMsMax, signingDelayMs / 4),
      // A key created since the last read signs later than that.
      freshMs: signingDelayMs / 2,
      read: tokenKeys,
      take: (rows) => this.#take(rows),
      now,
    })
  }

  /**
   * Loads the keys, and creates the first one on an empty database.
   *
   * @throws StartupError if the keys do not decrypt under this master key
   */
  static async open(options: TokenKeyRingOptions): Promise<TokenKeyRing> {
    const ring = new TokenKeyRing(options)
    await ring.#ensureKey()
    await ring.refresh()
    ring.#poller.start()
    return ring
  }

  signingKey(): TokenSigningKey {
    const now = this.#now()
    const active = [...this.#keys.values()].filter((key) => now < key.signsUntilMs)
    const settled = active.findLast((each) => each.signsFromMs <= now)
    // The first key signs at once, because no client has cached another. It is the one that later keys replace.
    const key = settled ?? active.find((each) => active.every(({ signsUntilMs }) => each.signsUntilMs <= signsUntilMs))
    if (!key) throw new Error('every token key is retired')
    return key
  }

  verificationKey(keyId: string): TokenSigningKey | undefined {
    const key = this.#keys.get(keyId)
    return key && this.#mayVerify(key) ? key : undefined
  }

  upToDate(): Promise<void> | undefined {
    return this.#poller.isFresh() ? undefined : this.#poller.fresh()
  }

  /** Returns the JSON Web Key Set (RFC 7517, section 5) of every key that may verify. */
  publicKeySet(): { keys: PublicTokenKey[] } {
    const verifying = [...this.#keys.values()].filter((key) => this.#mayVerify(key))
    return { keys: verifying.map((key) => key.publicJwk) }
  }

  /** Reads the keys again. */
  async refresh(): Promise<void> {
    await this.#poller.look()
  }

  /** Creates a new key that replaces the others. The algorithm defaults to that of the previous key. */
  async rotate(wanted?: TokenAlgorithm): Promise<TokenKeyRotation> {
    await this.refresh()
    const algorithm = wanted ?? this.#newestAlgorithm()
    const made = await makeTokenKeyRow(this.#sealingKey, algorithm)
    const { signsFrom, retired } = await this.#database.withRegistry(async (tx) => {
      await lockTokenKeys(tx)
      const signing = (await tokenKeys(tx)).filter((row) => row.retired_at === null)
      const keyIds = signing.map((row) => row.key_id)
      const createdAtMs = this.#now()
      const from = formatTimestamp(createdAtMs + this.#signingDelayMs)
      await insertTokenKey(tx, { ...made, created_at: formatTimestamp(createdAtMs) })
      await retireTokenKeys(tx, keyIds, from)
      return { signsFrom: from, retired: signing }
    })
    await this.refresh()
    const times = {
      signs_until: signsFrom,
      verifies_until: formatTimestamp(this.#verifiesUntilMs(Date.parse(signsFrom))),
    }
    return {
      key_id: made.key_id,
      algorithm,
      signs_from: signsFrom,
      retired: retired.map(({ key_id, algorithm }) => ({ key_id, algorithm, ...times })),
    }
  }

  close(): Promise<void> {
    return this.#poller.close()
  }

  #take(rows: readonly TokenKeyRow[]): void {
    const known = this.#keys
    this.#keys = new Map(rows.map((row) => [row.key_id, this.#ringKeyOf(row, known.get(row.key_id))]))
    if (known.size === 0) return
    for (const { keyId, algorithm, signsFromMs } of this.#keys.values()) {
      if (known.has(keyId)) continue
      const details = { key_id: keyId, algorithm, signs_from: formatTimestamp(signsFromMs) }
      this.#log.info(details, 'a new token key is active')
    }
  }

  #ringKeyOf(row: TokenKeyRow, known: RingKey | undefined): RingKey {
    return Object.assign(known ?? openTokenKey(row, this.#sealingKey), {
      signsFromMs: Date.parse(row.created_at) + this.#signingDelayMs,
      signsUntilMs: row.retired_at === null ? Number.POSITIVE_INFINITY : Date.parse(row.retired_at),
    })
  }

  /** Returns the algorithm of the key that signs now, or will sign next. */
  #newestAlgorithm(): TokenAlgorithm {
    const newest = [...this.#keys.values()].findLast((key) => key.signsUntilMs === Number.POSITIVE_INFINITY)
    return (newest ?? this.signingKey()).algorithm
  }

  #mayVerify(key: RingKey): boolean {
    return this.#now() < this.#verifiesUntilMs(key.signsUntilMs)
  }

  /** Returns the time until which a retired key verifies: its last token has then expired, by the clock of any process. */
  #verifiesUntilMs(signsUntilMs: number): number {
    return signsUntilMs + serviceTokenSeconds * 1000 + this.#signingDelayMs
  }

  async #ensureKey(): Promise<void> {
    await this.#database.withRegistry(async (tx) => {
      await lockTokenKeys(tx)
      const rows = await tokenKeys(tx)
      if (rows.some((row) => row.retired_at === null)) return
      const made = await makeTokenKeyRow(this.#sealingKey, 'ES256')
      await insertTokenKey(tx, { ...made, created_at: formatTimestamp(this.#now()) })
    })
  }
}

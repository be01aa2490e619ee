import { AsyncLocalStorage } from 'node:async_hooks'
import type { Database, DatabaseLog, TenantTx } from '../../db/database.ts'
import { FetchRequiredError } from '../../db/fetch-required.ts'
import { type ContentEncryptor, type RecordContents, withoutContentKey } from '../../db/record-encryption.ts'
import { beginningOf, decryptText, encryptText, keyIdOf, recordIdOf } from './content-cipher.ts'
import { activeKeyId, type ContentKeyRow, contentKeys, shareContentKeysLock } from './content-keys-store.ts'
import { asUnavailable } from './key-provider-error.ts'
import { activeOf } from './key-state.ts'
import { type KeyProviders, providerNamed } from './providers/key-providers.ts'

/** Maximum time in milliseconds that an unwrapped key stays in memory. */
const heldMsMax = 5 * 60_000
/**
 * Age in milliseconds at which a key still in use is unwrapped again in the background, since a transaction may take
 * many minutes.
 */
const renewMs = 4 * 60_000
/** Age in milliseconds at which a tenant's key list is reloaded in the background. */
const readAgainMs = 2_000
/**
 * Age in milliseconds at which the key list must be reloaded before use: another process may destroy keys, and this one
 * must soon stop decrypting with them.
 */
const staleMs = 4_500
/** Pause in milliseconds after a provider failed. */
const failureMs = 1_000
/** Maximum number of cached ids per tenant that no key has. Forged texts contain such ids. */
const absentMax = 10_000
/** Maximum number of concurrent unwraps. */
const unwrapsAtOnce = 8

/** An unwrapped key. Its bytes are zeroed when it is dropped, and then it must encrypt nothing. */
interface HeldKey {
  key: Buffer
  isHeld: boolean
  since: number
  timer: NodeJS.Timeout
}

interface KeysOfTenant {
  /** Time at which reading began. */
  readAt: number
  rows: ReadonlyMap<string, ContentKeyRow>
  activeId: string | undefined
  erasedBeginnings: readonly string[]
  absent: Set<string>
}

/** The content keys of this process, for `RecordContents` and other uses. */
export interface ContentKeys extends RecordContents {
  /**
   * Returns a key by its id in a transaction; undefined if it was destroyed or never existed. Throws
   * `FetchRequiredError`.
   */
  keyOf(tenantId: string, keyId: string): Buffer | undefined
  /** Returns the active key in a transaction and locks the keys until its end. Throws `FetchRequiredError`. */
  activeKey(tx: TenantTx): Promise<{ keyId: string; key: Buffer } | undefined>
  /** Marks the tenant's key list as stale, so that the next use reads it again and zeroes destroyed keys. */
  changed(tenantId: string): void
  close(): void
}

export function createContentKeys(deps: {
  database: Database
  providers: KeyProviders
  log: Pick<DatabaseLog, 'warn'>
  now?: () => number
}): ContentKeys {
  const { database, providers, log, now = () => performance.now() } = deps
  const tenants = new Map<string, KeysOfTenant>()
  const held = new Map<string, HeldKey>()
  const reading = new Map<string, Promise<KeysOfTenant>>()
  const unwrapping = new Map<string, Promise<void>>()
  const failures = new Map<string, { error: unknown; at: number }>()
  const sealers = new WeakMap<TenantTx, Promise<ContentEncryptor | undefined>>()
  // Background reads must run outside the transaction that triggers them.
  const besides = AsyncLocalStorage.snapshot()
  /** Times at which this process last changed keys itself. Older reads are stale. */
  const changes = new Map<string, number>()
  let isClosed = false

  const nameOf = (tenantId: string, keyId: string) => `${tenantId} ${keyId}`

  function hold(name: string, key: Buffer): void {
    forget(name)
    if (isClosed) return void key.fill(0)
    const timer = setTimeout(() => forget(name), heldMsMax).unref()
    held.set(name, { key, isHeld: true, since: now(), timer })
  }

  function forget(name: string): void {
    const known = held.get(name)
    if (!known) return
    held.delete(name)
    clearTimeout(known.timer)
    known.isHeld = false
    known.key.fill(0)
  }

  /** Reads the tenant's keys. Concurrent callers share one read. */
  function read(tenantId: string): Promise<KeysOfTenant> {
    const underWay = reading.get(tenantId)
    if (underWay) return underWay
    const readAt = now()
    const started = database
      .withTenant(tenantId, (tx) => contentKeys(tx), { readOnly: true })
      .then((rows) => {
        const keys: KeysOfTenant = {
          readAt,
          rows: new Map(rows.map((row) => [row.key_id, row])),
          activeId: activeOf(rows)?.key_id,
          erasedBeginnings: rows.filter((row) => row.state === 'destroyed').map((row) => beginningOf(row.key_id)),
          absent: tenants.get(tenantId)?.absent ?? new Set(),
        }
        tenants.set(tenantId, keys)
        for (const row of rows) if (row.state === 'destroyed') forget(nameOf(tenantId, row.key_id))
        return keys
      })
      .finally(() => reading.delete(tenantId))
    reading.set(tenantId, started)
    return started
  }

  /** Reads the keys again: a read already under way may have begun too early to see the change. */
  async function readAfter(tenantId: string): Promise<KeysOfTenant> {
    await reading.get(tenantId)?.catch(() => {})
    return read(tenantId)
  }

  function isChanged(tenantId: string, keys: KeysOfTenant): boolean {
    return keys.readAt <= (changes.get(tenantId) ?? Number.NEGATIVE_INFINITY)
  }

  function known(tenantId: string): KeysOfTenant {
    const keys = tenants.get(tenantId)
    const age = keys === undefined || isChanged(tenantId, keys) ? Number.POSITIVE_INFINITY : now() - keys.readAt
    if (keys === undefined || age > staleMs) {
      throw new FetchRequiredError('which content keys there are', async () => void (await readAfter(tenantId)))
    }
    if (age > readAgainMs && !reading.has(tenantId)) {
      besides(() => {
        read(tenantId).catch((error: unknown) => {
          log.warn({ err: error, tenant: tenantId }, 'content keys could not be read again')
        })
      })
    }
    return keys
  }

  function unwrap(tenantId: string, row: ContentKeyRow): Promise<void> {
    const name = nameOf(tenantId, row.key_id)
    const failed = failures.get(name)
    if (failed && now() - failed.at < failureMs) return Promise.reject(failed.error)
    const underWay = unwrapping.get(name)
    if (underWay) return underWay
    const started = unwrapNow(tenantId, row)
      .then(
        (key) => {
          failures.delete(name)
          hold(name, key)
        },
        (error: unknown) => {
          failures.set(name, { error, at: now() })
          throw error
        },
      )
      .finally(() => unwrapping.delete(name))
    unwrapping.set(name, started)
    return started
  }

  async function unwrapNow(tenantId: string, row: ContentKeyRow): Promise<Buffer> {
    const provider = providerNamed(providers, row.provider)
    if (row.wrapped === null) throw new Error(`the content key ${row.key_id} was destroyed`)
    try {
      return await provider.unwrap(row.key_ref, row.wrapped, { tenant: tenantId, keyId: row.key_id })
    } catch (error) {
      throw asUnavailable(error, 'The content of this tenant cannot be decrypted at the moment.')
    }
  }

  /**
   * Returns the key if it is in memory. Throws `FetchRequiredError` for a key that can be unwrapped, and returns
   * undefined for any other.
   */
  function heldKey(tenantId: string, keyId: string): HeldKey | undefined {
    const keys = known(tenantId)
    const row = keys.rows.get(keyId)
    if (row === undefined) {
      if (keys.absent.has(keyId)) return undefined
      throw new FetchRequiredError(`the content key ${keyId}`, () => lookFor(tenantId, keyId))
    }
    if (row.state === 'destroyed') return undefined
    const key = held.get(nameOf(tenantId, keyId))
    if (key && now() - key.since > renewMs) besides(() => void unwrap(tenantId, row).catch(() => {}))
    if (key) return key
    throw new FetchRequiredError(`the content key ${keyId}`, () => fetchKey(tenantId, row))
  }

  /** Fetches a key. After a rotated key, the other rotated keys are likely to follow, so it fetches those too. */
  async function fetchKey(tenantId: string, row: ContentKeyRow): Promise<void> {
    await unwrap(tenantId, row)
    if (row.state !== 'retired') return
    const rows = tenants.get(tenantId)?.rows.values() ?? []
    const missing = [...rows].filter((one) => one.state === 'retired' && !held.has(nameOf(tenantId, one.key_id)))
    const left = missing.values()
    const unwrapLeft = async () => {
      for (const one of left) await unwrap(tenantId, one)
    }
    // A caller that needs a failed key requests it again and gets the error.
    await Promise.allSettled(Array.from({ length: unwrapsAtOnce }, unwrapLeft))
  }

  /** Looks for a key that another process created after the last read. */
  async function lookFor(tenantId: string, keyId: string): Promise<void> {
    const keys = await readAfter(tenantId)
    if (keys.rows.has(keyId)) return
    if (keys.absent.size >= absentMax) keys.absent.clear()
    keys.absent.add(keyId)
  }

  function sealerWith(tenantId: string, keyId: string, one: HeldKey): ContentEncryptor {
    return {
      keyId,
      seal(recordId, text) {
        if (!one.isHeld)
          throw new FetchRequiredError(`the content key ${keyId}`, async () => void (await read(tenantId)))
        return encryptText(one.key, keyId, tenantId, recordId, text)
      },
    }
  }

  async function activeHeld(tx: TenantTx): Promise<{ keyId: string; one: HeldKey } | undefined> {
    await shareContentKeysLock(tx)
    const keyId = await activeKeyId(tx)
    if (keyId === undefined) return undefined
    const one = heldKey(tx.tenantId, keyId)
    // The row exists and is active, so the cached list is outdated.
    if (one === undefined)
      throw new FetchRequiredError(`the content key ${keyId}`, async () => void (await readAfter(tx.tenantId)))
    return { keyId, one }
  }

  async function sealerIn(tx: TenantTx): Promise<ContentEncryptor | undefined> {
    const active = await activeHeld(tx)
    return active && sealerWith(tx.tenantId, active.keyId, active.one)
  }

  function open(tenantId: string, recordId: string, stored: string): string {
    const keyId = keyIdOf(stored)
    const one = keyId === undefined ? undefined : heldKey(tenantId, keyId)
    return (one && decryptText(one.key, tenantId, recordId, stored)) ?? stored
  }

  return {
    open,
    openJoined: (tenantId, stored) => open(tenantId, recordIdOf(stored), stored),

    destroyedKeyOf(tenantId, stored) {
      const keyId = keyIdOf(stored)
      const row = keyId === undefined ? undefined : known(tenantId).rows.get(keyId)
      return row?.state === 'destroyed' ? { keyId: row.key_id, eventId: row.event_id } : undefined
    },

    erasedBeginnings: (tenantId) => tenants.get(tenantId)?.erasedBeginnings ?? [],

    async destructions(tx) {
      await shareContentKeysLock(tx)
      const destroyed = (await contentKeys(tx)).filter((row) => row.state === 'destroyed').length
      const seen = tenants.get(tx.tenantId)?.erasedBeginnings.length ?? 0
      if (seen !== destroyed) changes.set(tx.tenantId, now())
      return destroyed
    },

    sealer(tx) {
      const begun = sealers.get(tx) ?? sealerIn(tx)
      sealers.set(tx, begun)
      return begun
    },

    async outside(tenantId, fresh = false) {
      let keys = tenants.get(tenantId)
      const isGood = keys?.activeId !== undefined && now() - keys.readAt <= staleMs && !isChanged(tenantId, keys)
      if (fresh || keys === undefined || !isGood) keys = await readAfter(tenantId)
      const row = keys.rows.get(keys.activeId ?? '')
      if (row === undefined) throw withoutContentKey()
      const name = nameOf(tenantId, row.key_id)
      if (!held.has(name)) await unwrap(tenantId, row)
      const one = held.get(name)
      if (one === undefined) throw withoutContentKey()
      return sealerWith(tenantId, row.key_id, one)
    },

    keyOf: (tenantId, keyId) => heldKey(tenantId, keyId)?.key,

    async activeKey(tx) {
      const active = await activeHeld(tx)
      return active && { keyId: active.keyId, key: active.one.key }
    },

    changed(tenantId) {
      changes.set(tenantId, now())
    },

    close() {
      isClosed = true
      for (const name of [...held.keys()]) forget(name)
    },
  }
}

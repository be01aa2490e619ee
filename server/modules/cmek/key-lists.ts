import { AsyncLocalStorage } from 'node:async_hooks'
import { type Database, type DatabaseLog, readTenant } from '../../db/database.ts'
import { FetchRequiredError } from '../../db/fetch-required.ts'
import { beginningOf } from './content-cipher.ts'
import { type ContentKeyRow, contentKeys } from './content-keys-store.ts'
import { activeOf } from './key-state.ts'

/** Age in milliseconds at which a tenant's key list is reloaded in the background. */
const readAgainMs = 2_000
/**
 * Age in milliseconds at which the key list must be reloaded before use: another process may destroy keys, and this one
 * must soon stop decrypting with them.
 */
const staleMs = 4_500
/** Maximum number of cached ids per tenant that no key has. Forged texts contain such ids. */
const absentMax = 10_000

/** The content keys of a tenant, still wrapped. */
interface KeyList {
  /** Time at which reading began. */
  readAtMs: number
  rows: ReadonlyMap<string, ContentKeyRow>
  active: ContentKeyRow | undefined
  erasedBeginnings: readonly string[]
  /** Ids that no key has. */
  absent: Set<string>
}

interface KeyListsDeps {
  database: Database
  log: Pick<DatabaseLog, 'warn'>
  /** Called for each destroyed key of a list that was read. */
  destroyed: (tenantId: string, keyId: string) => void
}

/** Caches the lists of the tenants' content keys, for at most a few seconds. */
export class KeyLists {
  readonly #deps: KeyListsDeps
  readonly #lists = new Map<string, KeyList>()
  readonly #reading = new Map<string, Promise<KeyList>>()
  /** Times at which this process last changed keys itself. Older reads are stale. */
  readonly #changedAtMs = new Map<string, number>()
  /** Runs reads outside the transactions that trigger them. */
  readonly #inBackground = AsyncLocalStorage.snapshot()

  constructor(deps: KeyListsDeps) {
    this.#deps = deps
  }

  /** Returns the list that was read last, however old. */
  last(tenantId: string): KeyList | undefined {
    return this.#lists.get(tenantId)
  }

  /** Returns the list if it is recent enough for use. */
  recent(tenantId: string): KeyList | undefined {
    const list = this.#lists.get(tenantId)
    const changedAtMs = this.#changedAtMs.get(tenantId) ?? Number.NEGATIVE_INFINITY
    return list && list.readAtMs > changedAtMs && performance.now() - list.readAtMs <= staleMs ? list : undefined
  }

  /** Returns the list in a transaction. Throws `FetchRequiredError` if it must be read first. */
  required(tenantId: string): KeyList {
    const list = this.recent(tenantId)
    if (list === undefined) {
      throw new FetchRequiredError('which content keys there are', async () => void (await this.readAfter(tenantId)))
    }
    if (performance.now() - list.readAtMs > readAgainMs && !this.#reading.has(tenantId)) {
      this.#inBackground(() => {
        this.read(tenantId).catch((error: unknown) => {
          this.#deps.log.warn({ err: error, tenant: tenantId }, 'content keys could not be read again')
        })
      })
    }
    return list
  }

  /** Reads the list. Concurrent callers share one read. */
  read(tenantId: string): Promise<KeyList> {
    const underWay = this.#reading.get(tenantId)
    if (underWay) return underWay
    const started = this.#readNow(tenantId).finally(() => this.#reading.delete(tenantId))
    this.#reading.set(tenantId, started)
    return started
  }

  /** Reads the list again: a read already under way may have begun too early to see a change. */
  async readAfter(tenantId: string): Promise<KeyList> {
    await this.#reading.get(tenantId)?.catch(() => {})
    return this.read(tenantId)
  }

  /** Looks for a key that another process created after the last read. */
  async lookFor(tenantId: string, keyId: string): Promise<void> {
    const { rows, absent } = await this.readAfter(tenantId)
    if (rows.has(keyId)) return
    if (absent.size >= absentMax) absent.clear()
    absent.add(keyId)
  }

  /** Marks the list as stale, so that the next use reads it again. */
  changed(tenantId: string): void {
    this.#changedAtMs.set(tenantId, performance.now())
  }

  async #readNow(tenantId: string): Promise<KeyList> {
    const readAtMs = performance.now()
    const rows = await readTenant(this.#deps.database, tenantId, contentKeys)
    const destroyed = rows.filter((row) => row.state === 'destroyed')
    const list: KeyList = {
      readAtMs,
      rows: new Map(rows.map((row) => [row.key_id, row])),
      active: activeOf(rows),
      erasedBeginnings: destroyed.map((row) => beginningOf(row.key_id)),
      absent: this.#lists.get(tenantId)?.absent ?? new Set(),
    }
    this.#lists.set(tenantId, list)
    for (const row of destroyed) this.#deps.destroyed(tenantId, row.key_id)
    return list
  }
}

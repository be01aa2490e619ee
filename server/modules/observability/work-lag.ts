import { type Database, type DatabaseLog, readTenant, type TenantTx } from '../../db/database.ts'
import { timeOfRecordId } from '../../records/record-clock.ts'

/** Milliseconds for which the result is cached, because reading it takes a transaction for each tenant. */
const freshMs = 30_000

/** Returns the id of the oldest unit of work that a tenant has left, a UUIDv7. */
type OldestOf = (tx: TenantTx) => Promise<string | undefined>

/** Seconds that the oldest unit of work of any tenant has waited, by kind of work. */
export type LagSeconds = Readonly<Record<string, number>>

interface LagDeps {
  database: Pick<Database, 'withTenant'>
  listTenants: () => Promise<readonly string[]>
  oldest: Readonly<Record<string, OldestOf>>
  log: Pick<DatabaseLog, 'warn'>
}

/**
 * Reads how far background work is behind, from the work that the database holds. So it also shows work of processes
 * that died, and work that always fails.
 */
export class WorkLag {
  readonly #deps: LagDeps
  #latest: { atMs: number; lag: Promise<LagSeconds> } | undefined

  constructor(deps: LagDeps) {
    this.#deps = deps
  }

  /** Returns the lag, at most half a minute old; nothing while it cannot be read. */
  read(): Promise<LagSeconds> {
    const now = performance.now()
    if (!this.#latest || now - this.#latest.atMs > freshMs) this.#latest = { atMs: now, lag: this.#readAll() }
    return this.#latest.lag
  }

  async #readAll(): Promise<LagSeconds> {
    const { database, listTenants, oldest, log } = this.#deps
    const kinds = Object.entries(oldest)
    const lag: Record<string, number> = Object.fromEntries(kinds.map(([kind]) => [kind, 0]))
    try {
      for (const slug of await listTenants()) {
        await readTenant(database, slug, async (tx) => {
          for (const [kind, of] of kinds) {
            const id = await of(tx)
            if (id !== undefined)
              lag[kind] = Math.max(lag[kind] ?? 0, (Date.now() - Date.parse(timeOfRecordId(id))) / 1000)
          }
        })
      }
      return lag
    } catch (error) {
      log.warn({ err: error }, 'the lag of background work could not be read')
      return {}
    }
  }
}

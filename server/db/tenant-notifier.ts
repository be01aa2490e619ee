import { setTimeout as delay } from 'node:timers/promises'
import type { Database, Listener } from './database.ts'

/** Maximum number of tenants in a notification: it holds at most 8,000 bytes, and a slug 63. */
const tenantsPerNotification = 100

export interface TenantNotifierOptions {
  database: Pick<Database, 'withRegistry'>
  channel: string
  /** Minimum milliseconds between two notifications of this process. Each is a commit. */
  pauseMs: number
  /** Runs before each notification, with its tenants. */
  before?: (tenantIds: readonly string[]) => Promise<void>
  /** Handles a notification that could not be sent. */
  failed?: (error: unknown) => void
}

/**
 * Notifies the processes that listen to a channel about tenants with work. It gathers tenants, and notifies in
 * transactions of its own: a transaction that notifies locks the whole database at its commit, so the transactions that
 * cause the work would commit one after the other. Best effort: listeners also poll, so a lost notification only costs
 * time.
 */
export class TenantNotifier {
  readonly #options: TenantNotifierOptions
  readonly #waiting = new Set<string>()
  readonly #hurry = new AbortController()
  #sending: Promise<void> | undefined

  constructor(options: TenantNotifierOptions) {
    this.#options = options
  }

  /** Queues a notification; nobody waits for it, and it never throws. Call it outside of transactions. */
  notify(tenantId: string): void {
    this.#waiting.add(tenantId)
    this.#sending ??= this.#sendAll()
  }

  /** Sends the queued notifications, from now on without pauses. Call it before the database closes. */
  async settled(): Promise<void> {
    this.#hurry.abort()
    await this.#sending
  }

  async #sendAll(): Promise<void> {
    const { pauseMs, before, failed } = this.#options
    // Several calls after one commit cause one notification.
    await Promise.resolve()
    while (this.#waiting.size > 0) {
      const tenantIds = [...this.#waiting]
      this.#waiting.clear()
      await before?.(tenantIds)
      await this.#send(tenantIds).catch((error: unknown) => failed?.(error))
      await delay(pauseMs, undefined, { signal: this.#hurry.signal, ref: false }).catch(() => {})
    }
    this.#sending = undefined
  }

  #send(tenantIds: readonly string[]): Promise<void> {
    const { database, channel } = this.#options
    return database.withRegistry(async (tx) => {
      for (let at = 0; at < tenantIds.length; at += tenantsPerNotification) {
        const some = tenantIds.slice(at, at + tenantsPerNotification).join(' ')
        await tx.client.query('select pg_notify($1, $2)', [channel, some])
      }
    })
  }
}

/** Listens for the tenants that {@link TenantNotifier} names. */
export function listenForTenants(
  database: Pick<Database, 'listen'>,
  channel: string,
  heard: (tenantId: string) => void,
): Listener {
  // The payload is empty when listening starts: polling finds earlier work.
  return database.listen(channel, (payload = '') => {
    for (const tenantId of payload.split(' ')) if (tenantId !== '') heard(tenantId)
  })
}

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { backoff } from '../../contract/backoff.ts'
import type { ConnectionTarget } from '../db/connection-settings.ts'
import type { DatabaseLog } from '../db/database.ts'
import { StartupError } from '../startup-error.ts'
import { wrongKey } from './attach.ts'
import type { PostgresBinaries } from './binaries.ts'
import { bootstrapOwner, embeddedTargets } from './bootstrap.ts'
import { type Layout, makeSocketDirectory } from './layout.ts'
import { countClients, takeLease } from './lease.ts'
import { findPostmaster, isPostmasterFileMisleading } from './postmaster-file.ts'
import { launchServer, type ServerProcess } from './process.ts'

const othersMsMax = 10_000
const launchMsMax = 15_000
const restartMs = { first: 50, max: 5_000 }
const leaseRetryMs = 200

export interface SupervisorOptions {
  readonly layout: Layout
  readonly binaries: PostgresBinaries
  readonly masterKey: Buffer
  readonly purpose: 'serve' | 'command'
  readonly log?: DatabaseLog | undefined
  readonly settings?: Readonly<Record<string, string>> | undefined
}

/** Keeps a server that this process started running until `stop`. */
export class Supervisor {
  readonly superuser: ConnectionTarget
  readonly owner: ConnectionTarget
  readonly #options: SupervisorOptions
  readonly #socket: { directory: string; temporary: boolean }
  #server: ServerProcess | undefined
  #lease: pg.Client | undefined
  #reviving = Promise.resolve()
  #stopping = false

  /**
   * Starts a server; returns undefined if another process' server took the cluster meanwhile.
   *
   * @throws StartupError with the message of the server if it does not start
   */
  static async start(options: SupervisorOptions): Promise<Supervisor | undefined> {
    const socket = await makeSocketDirectory(options.layout)
    const supervisor = new Supervisor(options, socket)
    try {
      if (await supervisor.#launch()) {
        await supervisor.#takeLease()
        await bootstrapOwner(supervisor)
        return supervisor
      }
    } catch (cause) {
      await supervisor.stop()
      throw (cause as { code?: string }).code === '28P01' ? wrongKey(options.layout.dataDir, cause) : cause
    }
    await supervisor.stop()
    return undefined
  }

  private constructor(options: SupervisorOptions, socket: { directory: string; temporary: boolean }) {
    this.#options = options
    this.#socket = socket
    const targets = embeddedTargets(options.masterKey, { directory: socket.directory, port: 5432 })
    this.superuser = targets.superuser
    this.owner = targets.owner
  }

  /** Stops the server. A command first gives its other clients a moment to finish. */
  async stop(): Promise<void> {
    this.#stopping = true
    if (this.#lease && this.#options.purpose === 'command') await this.#waitForOthers()
    await this.#reviving
    await this.#lease?.end()
    await this.#server?.stop()
    if (this.#socket.temporary) await rm(this.#socket.directory, { recursive: true, force: true })
  }

  async #launch(): Promise<boolean> {
    const { layout } = this.#options
    const deadline = Date.now() + launchMsMax
    for (;;) {
      if (await isPostmasterFileMisleading(layout.cluster)) await this.#removeLockFiles()
      try {
        const server = await launchServer({ ...this.#options, socketDirectory: this.#socket.directory })
        this.#server = server
        void server.exited.then(() => this.#onExit())
        return true
      } catch (cause) {
        if (await findPostmaster(layout.cluster)) return false
        const { message } = cause as Error
        // Backends of a killed server have not ended yet.
        if (!/shared memory block/.test(message) || Date.now() > deadline) {
          throw new StartupError(`PostgreSQL does not start:\n${message}`, `Its log is ${layout.log}.`, { cause })
        }
        await delay(100)
      }
    }
  }

  async #removeLockFiles(): Promise<void> {
    await rm(join(this.#options.layout.cluster, 'postmaster.pid'), { force: true })
    await rm(join(this.#socket.directory, '.s.PGSQL.5432.lock'), { force: true })
  }

  /** Revives the server once for each exit, one revival after the other. */
  #onExit(): void {
    if (!this.#stopping) this.#reviving = this.#reviving.then(() => this.#revive())
  }

  /** Restarts the server. The pools find it by themselves, because it listens on the same socket. */
  async #revive(): Promise<void> {
    const { log } = this.#options
    log?.error({}, 'PostgreSQL ended; starting it again')
    for (let retries = 0; !this.#stopping; retries += 1) {
      await delay(backoff(retries, restartMs))
      try {
        if (await this.#launch()) {
          log?.warn({}, 'PostgreSQL runs again')
          return
        }
      } catch (error) {
        log?.error({ err: error }, 'PostgreSQL does not start')
      }
    }
  }

  async #takeLease(): Promise<void> {
    const lease = await takeLease(this.superuser, this.#options.purpose)
    this.#lease = lease
    lease.once('end', () => void this.#renewLease())
  }

  /** Takes the lease again. Its connection ends with a crash of the server, or when an administrator ends it. */
  async #renewLease(): Promise<void> {
    while (!this.#stopping) {
      await delay(leaseRetryMs, undefined, { ref: false })
      const renewed = await this.#takeLease().then(
        () => true,
        () => false,
      )
      if (renewed) return
    }
  }

  async #waitForOthers(): Promise<void> {
    const deadline = Date.now() + othersMsMax
    while (Date.now() < deadline && (await countClients(this.superuser).catch(() => 0)) > 0) await delay(100)
  }
}

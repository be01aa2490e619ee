import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { backoff } from '../../contract/backoff.ts'
import type { ConnectionTarget } from '../db/connection-settings.ts'
import type { DatabaseLog } from '../db/database.ts'
import { StartupError } from '../startup-error.ts'
import type { PostgresBinaries } from './binaries.ts'
import { type Layout, makeSocketDirectory } from './data-directory.ts'
import { findPostmaster, hasProcessIn, launchServer, type ServerProcess } from './postmaster.ts'
import { bootstrapOwner, countOtherClients, embeddedTargets, openStarterSession, type Purpose } from './superuser.ts'

const othersMsMax = 10_000
const launchMsMax = 15_000
const restartMs = { first: 50, max: 5_000 }

export interface SupervisorOptions {
  readonly layout: Layout
  readonly binaries: PostgresBinaries
  readonly masterKey: Buffer
  readonly purpose: Purpose
  readonly log?: DatabaseLog | undefined
  readonly settings?: Readonly<Record<string, string>> | undefined
}

/** Keeps a server that this process started running until `stop`. */
export class Supervisor {
  readonly superuser: ConnectionTarget
  readonly owner: ConnectionTarget
  readonly #options: SupervisorOptions
  readonly #socket: { directory: string; temporary: boolean }
  /** Both are undefined once they have ended. */
  #server: ServerProcess | undefined
  #session: pg.Client | undefined
  #restoring = Promise.resolve()
  #stopping = false

  /**
   * Starts a server; returns undefined if another process' server took the cluster meanwhile.
   *
   * @throws StartupError with the message of the server if it does not start
   */
  static async start(options: SupervisorOptions): Promise<Supervisor | undefined> {
    const supervisor = new Supervisor(options, await makeSocketDirectory(options.layout))
    try {
      if (await supervisor.#launch()) {
        await supervisor.#openSession()
        await bootstrapOwner(supervisor)
        return supervisor
      }
    } catch (cause) {
      await supervisor.stop()
      throw cause
    }
    await supervisor.stop()
    return undefined
  }

  private constructor(options: SupervisorOptions, socket: { directory: string; temporary: boolean }) {
    this.#options = options
    this.#socket = socket
    const { superuser, owner } = embeddedTargets(options.masterKey, socket.directory)
    this.superuser = superuser
    this.owner = owner
  }

  /** Stops the server. A command first gives its other clients a moment to finish. */
  async stop(): Promise<void> {
    this.#stopping = true
    if (this.#options.purpose === 'command') await this.#waitForOthers()
    await this.#restoring
    await this.#session?.end()
    await this.#server?.stop()
    if (this.#socket.temporary) await rm(this.#socket.directory, { recursive: true, force: true })
  }

  async #launch(): Promise<boolean> {
    const { layout } = this.#options
    const deadline = Date.now() + launchMsMax
    for (;;) {
      try {
        this.#server = await launchServer({ ...this.#options, socketDirectory: this.#socket.directory })
        void this.#server.exited.then(() => {
          this.#server = undefined
          this.#restoreLater()
        })
        return true
      } catch (cause) {
        if (await findPostmaster(layout.cluster)) return false
        const { message } = cause as Error
        if (!/shared memory block|lock file .* already exists/.test(message) || Date.now() > deadline) {
          throw new StartupError(`PostgreSQL does not start:\n${message}`, `Its log is ${layout.log}.`, { cause })
        }
        // Either backends of a killed server have not ended yet, or the lock files are left over, and the system has
        // given the number in them to another process.
        if (message.includes('shared memory block') || (await hasProcessIn(layout.cluster))) await delay(100)
        else await this.#removeLockFiles()
      }
    }
  }

  async #removeLockFiles(): Promise<void> {
    await rm(join(this.#options.layout.cluster, 'postmaster.pid'), { force: true })
    await rm(join(this.#socket.directory, '.s.PGSQL.5432.lock'), { force: true })
  }

  async #openSession(): Promise<void> {
    this.#session = await openStarterSession(this.superuser, this.#options.purpose)
    this.#session.once('end', () => {
      this.#session = undefined
      this.#restoreLater()
    })
  }

  #restoreLater(): void {
    if (!this.#stopping) this.#restoring = this.#restoring.then(() => this.#restore())
  }

  /** Restores the server and the session if they ended. Pools find the server again, because its socket is the same. */
  async #restore(): Promise<void> {
    const { log } = this.#options
    for (let retries = 0; !this.#stopping; retries += 1) {
      await delay(backoff(retries, restartMs))
      try {
        if (!this.#server) {
          log?.error({}, 'PostgreSQL ended; starting it again')
          if (!(await this.#launch())) continue
          log?.warn({}, 'PostgreSQL is running again')
        }
        if (!this.#session) await this.#openSession()
        return
      } catch (error) {
        log?.error({ err: error }, 'PostgreSQL is not available')
      }
    }
  }

  async #waitForOthers(): Promise<void> {
    const deadline = Date.now() + othersMsMax
    const others = async () => (this.#session ? countOtherClients(this.#session).catch(() => 0) : 0)
    while (Date.now() < deadline && (await others()) > 0) await delay(100)
  }
}

import { setTimeout as delay } from 'node:timers/promises'
import type { ConnectionTarget } from '../db/connection-settings.ts'
import { isUnavailable } from '../db/database-errors.ts'
import { StartupError } from '../startup-error.ts'
import { readInstanceFile } from './instance-file.ts'
import { findHolder, type Holder } from './lease.ts'
import { findPostmaster, type Postmaster } from './postmaster-file.ts'

const commandMsMax = 20_000
const transitionMsMax = 120_000
/** Milliseconds after its server's start within which a starter takes its lease. */
const leaseMsMax = 2_000

export interface AttachOptions {
  readonly dataDir: string
  readonly cluster: string
  readonly purpose: 'serve' | 'command'
  /** Returns the superuser of a server that listens on this socket. */
  readonly superuserAt: (server: Postmaster) => ConnectionTarget
}

/**
 * Decides what to do about a server that may already run on this cluster. Resolves to the server if this process may
 * work beside it, or to undefined if this process should start one. Waits for a server that is starting or stopping,
 * and stops one whose starter is gone.
 *
 * @throws StartupError if another `hub serve` uses this data directory
 */
export async function attachToServer(options: AttachOptions): Promise<Postmaster | undefined> {
  const began = Date.now()
  let unheldSince: number | undefined
  for (;;) {
    const server = await findPostmaster(options.cluster)
    if (!server) return undefined
    const holder = server.status === 'ready' ? await holderOf(options, server) : 'changing'
    if (holder === 'changing') {
      if (Date.now() - began > transitionMsMax) throw stuck(options, server)
    } else if (holder === undefined) {
      unheldSince ??= Date.now()
      if (Date.now() - unheldSince > leaseMsMax) stopOrphan(server)
    } else {
      if (options.purpose === 'command') return server
      if (holder.kind === 'serve') throw alreadyServed(options, holder)
      if (Date.now() - began > commandMsMax) throw inUse(options, holder)
    }
    if (holder !== undefined) unheldSince = undefined
    await delay(50)
  }
}

async function holderOf(options: AttachOptions, server: Postmaster): Promise<Holder | 'changing' | undefined> {
  try {
    return await findHolder(options.superuserAt(server))
  } catch (cause) {
    if (isUnavailable(cause)) return 'changing'
    if ((cause as { code?: string }).code === '28P01') throw wrongKey(options.dataDir, cause)
    throw cause
  }
}

/** Returns the error for a refused password. Passwords derive from the master key, so a refusal means another key. */
export function wrongKey(dataDir: string, cause: unknown): StartupError {
  return new StartupError(
    `The database in ${dataDir} was made with another master key than the given one.`,
    'Start with the HUB_MASTER_KEY, or the master.key file, that this data directory was made with.',
    { cause },
  )
}

function stopOrphan(server: Postmaster): void {
  try {
    process.kill(server.pid, 'SIGINT')
  } catch {
    // The server has already ended.
  }
}

function alreadyServed(options: AttachOptions, holder: Holder): StartupError {
  const notice = readInstanceFile(options.dataDir)
  const where = notice?.pid === holder.pid ? ` at ${notice.url}` : ''
  return new StartupError(
    `The Hub is already being served from the data directory ${options.dataDir}, by process ${holder.pid}${where}.`,
    'Use that one, stop it first, or set HUB_DATA_DIR to another directory.',
  )
}

function inUse(options: AttachOptions, holder: Holder): StartupError {
  return new StartupError(
    `Another hub command, process ${holder.pid}, is using the database in ${options.dataDir}.`,
    'Wait until it has finished, and start again.',
  )
}

function stuck(options: AttachOptions, server: Postmaster): StartupError {
  return new StartupError(
    `The PostgreSQL server of ${options.dataDir} (process ${server.pid}) has been ${server.status} for two minutes.`,
    `Look into ${options.dataDir}/postgresql.log; when that process has ended, start again.`,
  )
}

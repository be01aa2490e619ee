import { setTimeout as delay } from 'node:timers/promises'
import { isUnavailable } from '../db/database-errors.ts'
import { StartupError } from '../startup-error.ts'
import { findBinaries, type PostgresBinaries } from './binaries.ts'
import { ensureCluster } from './cluster.ts'
import { readInstanceFile } from './data-directory.ts'
import { findPostmaster, type Postmaster, signalServer } from './postmaster.ts'
import {
  bootstrapOwner,
  type EmbeddedTargets,
  embeddedAccounts,
  embeddedTargets,
  findStarter,
  openClientSession,
  type Starter,
} from './superuser.ts'
import { Supervisor, type SupervisorOptions } from './supervisor.ts'

const commandMsMax = 20_000
const transitionMsMax = 120_000
/** Milliseconds within which a starter opens its session on the server. */
const starterMsMax = 2_000

/**
 * `purpose: 'serve'` takes the data directory for itself; a command works beside a running service. `settings` are
 * beyond the built-in ones, such as `fsync=off` for a throwaway cluster.
 */
export type EmbeddedOptions = Omit<SupervisorOptions, 'binaries'>

export interface EmbeddedServer extends EmbeddedTargets {
  /** Stops the server if this process started it. Close all connections first. */
  stop(): Promise<void>
}

/**
 * Starts the embedded PostgreSQL of a data directory, or joins the one that runs. While this process lives it restarts
 * the server if that dies. When this process ends for any reason, the server shuts down by itself.
 *
 * @throws StartupError that states the fix, for every problem that an operator can solve
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  if (process.platform === 'win32') {
    throw new StartupError('There is no embedded PostgreSQL on Windows.', 'Set HUB_DATABASE_URL, or use WSL.')
  }
  try {
    return await joinOrStart(options, await findBinaries(options.layout.user))
  } catch (cause) {
    if ((cause as { code?: string }).code !== '28P01') throw cause
    // Passwords derive from the master key, so a refused one means another key.
    throw new StartupError(
      `The database in ${options.layout.dataDir} was created with a different master key.`,
      'Start with the HUB_MASTER_KEY or the file master.key of this data directory.',
      { cause },
    )
  }
}

/** Waits for a server that is starting or stopping, and stops one whose starter is gone. */
async function joinOrStart(options: EmbeddedOptions, binaries: PostgresBinaries): Promise<EmbeddedServer> {
  const { layout, masterKey, purpose } = options
  const began = Date.now()
  let abandonedSince: number | undefined
  for (; ; await delay(50)) {
    const server = await findPostmaster(layout.cluster)
    if (!server) {
      abandonedSince = undefined
      await ensureCluster(layout, binaries, embeddedAccounts(masterKey).superuser.password)
      const supervisor = await Supervisor.start({ ...options, binaries })
      if (supervisor) return supervisor
      continue
    }
    const targets = embeddedTargets(masterKey, server.socketDirectory, server.port)
    try {
      const starter = server.status === 'ready' ? await findStarter(targets.superuser) : 'changing'
      if (starter) abandonedSince = undefined
      if (starter === undefined) {
        abandonedSince ??= Date.now()
        if (Date.now() - abandonedSince > starterMsMax) signalServer(server.pid, 'SIGINT')
      } else if (starter !== 'changing') {
        if (purpose === 'command') return await join(targets)
        if (starter.purpose === 'serve') throw alreadyServed(layout.dataDir, starter)
        if (Date.now() - began > commandMsMax) throw inUse(layout.dataDir, starter)
      }
    } catch (error) {
      if (!isUnavailable(error)) throw error
    }
    if (Date.now() - began > transitionMsMax) throw stuck(layout.dataDir, server)
  }
}

async function join(targets: EmbeddedTargets): Promise<EmbeddedServer> {
  const session = await openClientSession(targets.superuser)
  await bootstrapOwner(targets)
  return { ...targets, stop: () => session.end() }
}

function alreadyServed(dataDir: string, { pid }: Starter): StartupError {
  const instance = readInstanceFile(dataDir)
  const where = instance?.pid === pid ? ` at ${instance.url}` : ''
  return new StartupError(
    `The data directory ${dataDir} is already served by process ${pid}${where}.`,
    'Use that one, stop it first, or set HUB_DATA_DIR to another directory.',
  )
}

function inUse(dataDir: string, { pid }: Starter): StartupError {
  return new StartupError(
    `Another hub command, process ${pid}, is using the database in ${dataDir}.`,
    'Wait until it has finished, then start again.',
  )
}

function stuck(dataDir: string, server: Postmaster): StartupError {
  return new StartupError(
    `The PostgreSQL server of ${dataDir} (process ${server.pid}) has been ${server.status} for two minutes.`,
    `See ${dataDir}/postgresql.log; start again after that process has ended.`,
  )
}

import type { ConnectionTarget } from '../db/connection-settings.ts'
import type { DatabaseLog } from '../db/database.ts'
import { isUnavailable } from '../db/database-errors.ts'
import { StartupError } from '../startup-error.ts'
import { attachToServer } from './attach.ts'
import { findBinaries } from './binaries.ts'
import { bootstrapOwner, embeddedAccounts, embeddedTargets } from './bootstrap.ts'
import { ensureCluster } from './cluster.ts'
import type { Layout } from './layout.ts'
import { joinAsClient } from './lease.ts'
import type { Postmaster } from './postmaster-file.ts'
import { Supervisor } from './supervisor.ts'

export interface EmbeddedOptions {
  /** The layout of `prepareLayout`. */
  readonly layout: Layout
  readonly masterKey: Buffer
  /** `serve` takes the data directory for itself; a command works beside a running service. */
  readonly purpose: 'serve' | 'command'
  readonly log?: DatabaseLog | undefined
  /** Settings beyond the built-in ones, such as `fsync=off` for a throwaway cluster. */
  readonly settings?: Readonly<Record<string, string>> | undefined
}

export interface EmbeddedServer {
  readonly superuser: ConnectionTarget
  readonly owner: ConnectionTarget
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
  const { layout } = options
  const binaries = await findBinaries(layout.user)
  const targetsAt = (server: Postmaster) =>
    embeddedTargets(options.masterKey, { directory: server.socketDirectory, port: server.port })
  for (;;) {
    const running = await attachToServer({
      dataDir: layout.dataDir,
      cluster: layout.cluster,
      purpose: options.purpose,
      superuserAt: (server) => targetsAt(server).superuser,
    })
    if (running) {
      const joined = await join(targetsAt(running))
      if (joined) return joined
      continue
    }
    await ensureCluster(layout, binaries, embeddedAccounts(options.masterKey).superuser.password)
    const supervisor = await Supervisor.start({ ...options, binaries })
    if (supervisor) return supervisor
  }
}

/** Joins the server; returns undefined if it ended meanwhile, so that the caller checks again. */
async function join(targets: {
  superuser: ConnectionTarget
  owner: ConnectionTarget
}): Promise<EmbeddedServer | undefined> {
  try {
    const visit = await joinAsClient(targets.superuser)
    await bootstrapOwner(targets)
    return { ...targets, stop: () => visit.end() }
  } catch (error) {
    if (isUnavailable(error)) return undefined
    throw error
  }
}

import type { DatabaseSync } from 'node:sqlite'
import { type Logger, pino } from 'pino'
import { packageVersion } from '../../server/config.ts'
import { drainable } from '../../server/http/drain-server.ts'
import { explainingFailure } from '../../server/listening-sockets.ts'
import { StartupError } from '../../server/startup-error.ts'
import type { ConnectorConfig } from './connector-config.ts'
import { createConnectorServer } from './connector-routes.ts'
import { connectorStatus } from './connector-status.ts'
import { createEventIntake } from './event-intake.ts'
import { Forwarder } from './forwarder.ts'
import { HubSession } from './hub-session.ts'
import { createSpooledBatches } from './spool-batches.ts'
import { bindSpool, lockSpool, openSpoolDatabase, type SpoolLock } from './spool-database.ts'
import { createSpoolIntake } from './spool-intake.ts'

const drainMs = 25_000

export interface RunningConnector {
  readonly url: string
  /** Stops accepting events, finishes the batch in flight for up to 25 s, and leaves the rest in the spool. */
  stop(): Promise<void>
}

/** @throws StartupError if the spool is locked or another's, or the port is in use */
export async function startConnector(config: ConnectorConfig, log: Logger): Promise<RunningConnector> {
  const { spoolDirectory: directory, spoolBytesMax: bytesMax, tenant, hubUrl } = config
  const database = openSpoolDatabase(directory, { make: true })
  const lock = takeSpool(database, config)
  const batches = createSpooledBatches(database)
  const forwarder = new Forwarder({ batches, session: new HubSession(config), retryMaxMs: config.retryMaxMs, log })
  const spool = createSpoolIntake({ database, directory, bytesMax, arrived: () => forwarder.wake() })
  const status = connectorStatus({ database, bytesMax, obstacle: spool.obstacle, forwarder })
  const intake = createEventIntake({ tenant, hubUrl, spool })
  const app = createConnectorServer({ config, version: packageVersion(), intake, status, log })
  const drain = drainable(app, { drainSeconds: drainMs / 1000, log })
  await app.ready()
  forwarder.start()

  async function close(): Promise<void> {
    const cutOff = AbortSignal.timeout(drainMs)
    await Promise.all([drain(), forwarder.stop(cutOff)])
    database.close()
    lock.release()
  }

  try {
    const url = await explainingFailure(config, () => app.listen({ host: config.host, port: config.port }))
    return { url, stop: close }
  } catch (error) {
    await close()
    if (!(error instanceof StartupError)) throw error
    throw new StartupError(
      error.message,
      'Choose another address with --port or HUB_CONNECTOR_PORT, --host or HUB_CONNECTOR_HOST.',
      { cause: error },
    )
  }
}

/** @throws StartupError; then no lock is held */
function takeSpool(database: DatabaseSync, config: ConnectorConfig): SpoolLock {
  let lock: SpoolLock | undefined
  try {
    lock = lockSpool(config.spoolDirectory)
    bindSpool(database, config.tenant, config.hubUrl, config.hubMoved)
    return lock
  } catch (error) {
    database.close()
    lock?.release()
    throw error
  }
}

/** Runs until SIGINT or SIGTERM. */
export async function runConnector(config: ConnectorConfig): Promise<void> {
  // The spool's content must be private to this user.
  process.umask(0o077)
  const log = pino({ level: config.logLevel, base: null }, pino.destination(2))
  // Registered before the start message: a caller that waits for it may send a signal at once.
  const asked = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
  const connector = await startConnector(config, log)
  process.stdout.write(`Connector: ${connector.url}\n`)
  process.stdout.write(`Forwards to ${config.hubUrl} for ${config.tenant}; spool in ${config.spoolDirectory}\n`)
  await asked
  await connector.stop()
}

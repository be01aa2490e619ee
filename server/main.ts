import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import { createApp } from './app.ts'
import { createBackground } from './background.ts'
import { poolSizeOf, type RequestServer, serveByWorkers, serverConnections } from './cluster/serve-by-workers.ts'
import { type Config, withListeningPort } from './config.ts'
import { createModules, type Modules } from './create-modules.ts'
import { type OpenedDatabase, openDatabase } from './db/open-database.ts'
import { createConnectionGate, guardConnections } from './http/connection-gate.ts'
import { drainable } from './http/drain-server.ts'
import { createLogger } from './http/request-log.ts'
import { type OpenedLimiter, openLimiter } from './limits/open-limiter.ts'
import { explainingFailure } from './listening-sockets.ts'
import { Metrics } from './metrics/metrics.ts'
import { openMetricsPage } from './metrics/metrics-page.ts'
import { startupWarnings } from './startup-warnings.ts'
import { checkStorageAtStart } from './storage/open-storage.ts'
import { openExport } from './tracing/open-export.ts'
import { beginWebUiBuild, type WebUiBuild } from './web-ui-build.ts'

/** A Hub that serves requests. */
export interface RunningHub {
  /** The configuration with the chosen port. */
  config: Config
  modules: Modules
  workerMetrics: RequestServer['workerMetrics'] | undefined
  /** Accepts no new connection, lets requests and jobs finish for up to `drainSeconds`, then stops everything. */
  stop(): Promise<void>
}

const isCluster = ({ workers, role }: Pick<Config, 'workers' | 'role'>) => workers > 1 && role !== 'worker'

/**
 * Starts everything that the role requires: database, migrations, API, background jobs. With several workers, requests
 * are answered in processes of their own.
 *
 * @throws StartupError that states the fix, for every problem that an operator can solve
 */
export async function startHub(
  config: Config,
  log: Logger = createLogger(config),
  metrics?: Metrics,
): Promise<RunningHub> {
  const webUi = beginWebUiBuild(config, log)
  try {
    const database = await (isCluster(config)
      ? openDatabase(
          { ...config, databasePoolSize: poolSizeOf(config) },
          { purpose: 'serve', log, postgresSettings: { max_connections: String(serverConnections(config)) } },
        )
      : openDatabase(config, { purpose: 'serve', log }))
    try {
      return await startOn(database, config, log, { metrics, webUi })
    } catch (error) {
      await database.stop()
      throw error
    }
  } catch (error) {
    webUi.stop()
    throw error
  }
}

async function startOn(
  database: OpenedDatabase,
  config: Config,
  log: Logger,
  { metrics, webUi }: { metrics: Metrics | undefined; webUi: WebUiBuild },
): Promise<RunningHub> {
  let listening = config
  const baseUrl = () => listening.baseUrl
  const { masterKey } = database
  const modules = await createModules({ config, database, masterKey, baseUrl, log })
  const background = createBackground({ database, app: database.connection.app, modules, config, log, metrics })
  let opened: OpenedLimiter | undefined
  let server: RequestServer | undefined
  try {
    await checkStorageAtStart(modules.storage, config, log)
    if (config.role !== 'worker') {
      const onFallback = (isAlone: boolean) => metrics?.setLimiterFallback(isAlone)
      opened = await openLimiter({ config, masterKey, log, onFallback })
      const { limiter } = opened
      const gate = createConnectionGate({ config, baseUrl, log, onRefused: () => metrics?.connectionRefused() })
      const webUiProblem = await webUi.problem
      const onListening = (port: number) => {
        listening = withListeningPort(config, port)
        return listening
      }
      if (isCluster(config)) {
        server = await serveByWorkers({ config, database, limiter, gate, log, webUiProblem, onListening })
      } else {
        const problem = { problem: webUiProblem }
        const app = await createApp(modules, { config, baseUrl, logger: log, limiter, metrics, webUi: problem })
        guardConnections(app.server, gate)
        server = { stop: drainable(app, { drainSeconds: config.drainSeconds, log }) }
        await explainingFailure(config, () => app.listen({ host: config.host, port: config.port }))
        onListening((app.server.address() as AddressInfo).port)
      }
      await database.announce(listening.baseUrl)
    }
  } catch (error) {
    await server?.stop()
    await opened?.close()
    await modules.close()
    throw error
  }
  background.start()
  const stop = async () => {
    try {
      await Promise.all([server?.stop(), background.stop()])
    } finally {
      await opened?.close()
      await modules.close()
      await database.stop()
    }
  }
  return { config: listening, modules, workerMetrics: server?.workerMetrics, stop }
}

/** Runs `hub serve`: starts the Hub, prints its address, and stops it on SIGINT or SIGTERM. */
export async function serve(config: Config): Promise<void> {
  const exported = await openExport(config)
  const log = createLogger(config, undefined, exported.writeLog)
  const metrics = config.metricsPort === undefined ? undefined : new Metrics(isCluster(config) ? 'primary' : undefined)
  // Opened before anything else, so that a port in use is reported at once.
  const { metricsPort: port = 0, metricsPortConfigured: isChosen } = config
  const page = metrics && (await openMetricsPage({ port, isChosen, log }))
  const hub = await startHub(config, log, metrics).catch((error: unknown) => {
    page?.close()
    throw error
  })
  page?.show(async () => metrics?.page(await hub.workerMetrics?.()) ?? '')
  for (const { detail, action } of startupWarnings(config)) log.warn(`${detail} ${action}`)
  await greet(hub)
  let stoppingSince = 0
  const stop = async (signal: NodeJS.Signals) => {
    if (stoppingSince > 0) {
      // Under npm one Ctrl-C arrives twice: from the terminal and from npm.
      if (performance.now() - stoppingSince > repeatedSignalMs) process.exit(1)
      return
    }
    stoppingSince = performance.now()
    log.info({ signal }, 'stopping; a second signal stops at once')
    await hub.stop().catch((error: unknown) => {
      log.error({ err: error }, 'the Hub did not stop cleanly')
      process.exitCode = 1
    })
    page?.close()
    await exported.stop()
    process.exit()
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
}

const repeatedSignalMs = 500
const demoTenant = 'demo'

/** Prints the address. In development the first start also creates a demo tenant. */
async function greet({ config, modules }: RunningHub): Promise<void> {
  if (config.role === 'worker') return
  const lines = [`Hub: ${config.baseUrl}`]
  if (config.environment === 'development') {
    const demo = await welcomeToDemo(modules)
    if (demo) lines.push(`Welcome (${demoTenant}): ${demo}`, 'Load demo data: npm run hub -- demo')
  }
  process.stdout.write(`${lines.join('\n')}\n`)
}

async function welcomeToDemo({ tenants }: Modules): Promise<string | undefined> {
  const { administration, directory } = tenants
  const made = await administration.createFirst(
    { slug: demoTenant, mode: 'A', adminEmail: 'admin@demo.example' },
    { operator: 'first start' },
  )
  if (made) return made.welcome.url
  // The first link was shown once and is stored as a hash. In development each start shows a new one.
  return (
    (await directory.find(demoTenant, { evenSuspended: true })) &&
    (await administration.welcomeLink(demoTenant, { operator: 'start' })).welcome.url
  )
}

import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import { createApp, createModules, type Modules } from './app.ts'
import { type Background, createBackground } from './background.ts'
import { startCluster } from './cluster/start-cluster.ts'
import { type Config, withListeningPort } from './config.ts'
import { type OpenedDatabase, openDatabase } from './db/open-database.ts'
import { createConnectionGate, guardConnections } from './http/connection-gate.ts'
import { drainable } from './http/drain-server.ts'
import { createLogger } from './http/request-log.ts'
import { openLimiter } from './limits/open-limiter.ts'
import { explainingFailure } from './listening-sockets.ts'
import { Metrics } from './metrics/metrics.ts'
import { openMetricsPage } from './metrics/metrics-page.ts'
import type { RunningHub } from './running-hub.ts'
import { startupWarnings } from './startup-warnings.ts'
import { checkStorageAtStart } from './storage/storage-at-start.ts'
import { beginWebUiBuild, type WebUiBuild } from './web-ui-build.ts'

/**
 * Starts, in this process, everything that the role requires: database, migrations, API, background jobs.
 *
 * @throws StartupError that states the fix, for every problem that an operator can solve
 */
export async function startHub(
  config: Config,
  log: Logger = createLogger(config),
  { metrics, ...openOptions }: { postgresSettings?: Record<string, string>; metrics?: Metrics | undefined } = {},
): Promise<RunningHub> {
  const webUi = beginWebUiBuild(config, log)
  try {
    const database = await openDatabase(config, { purpose: 'serve', log, ...openOptions })
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
  { metrics, webUi: build }: { metrics: Metrics | undefined; webUi: WebUiBuild },
): Promise<RunningHub> {
  let listening = config
  const baseUrl = () => listening.baseUrl
  const modules = await createModules({ config, database, masterKey: database.masterKey, baseUrl, log })
  const background = createBackground({ database, app: database.connection.app, modules, config, log, metrics })
  let drain: Parts['drain']
  let closeLimiter: Parts['closeLimiter']
  try {
    await checkStorageAtStart(modules.storage, config, log)
    if (config.role !== 'worker') {
      const onFallback = (isAlone: boolean) => metrics?.setLimiterFallback(isAlone)
      const opened = await openLimiter({ config, masterKey: database.masterKey, log, onFallback })
      closeLimiter = opened.close
      const webUi = { problem: await build.problem }
      const app = await createApp(modules, { config, baseUrl, logger: log, limiter: opened.limiter, metrics, webUi })
      const onRefused = () => metrics?.connectionRefused()
      guardConnections(app.server, createConnectionGate({ config, baseUrl, log, onRefused }))
      drain = drainable(app, { drainSeconds: config.drainSeconds, log })
      await explainingFailure(config, () => app.listen({ host: config.host, port: config.port }))
      listening = withListeningPort(config, (app.server.address() as AddressInfo).port)
      await database.announce(listening.baseUrl)
    }
  } catch (error) {
    await closeLimiter?.()
    await modules.close()
    throw error
  }
  background.start()
  return { config: listening, modules, stop: () => stopAll({ drain, background, closeLimiter, modules, database }) }
}

interface Parts {
  /** Drains the HTTP server; undefined without one. */
  drain: (() => Promise<void>) | undefined
  background: Background
  closeLimiter: (() => Promise<void>) | undefined
  modules: Modules
  database: OpenedDatabase
}

async function stopAll({ drain, background, closeLimiter, modules, database }: Parts): Promise<void> {
  try {
    await Promise.all([drain?.(), background.stop()])
  } finally {
    await closeLimiter?.()
    await modules.close()
    await database.stop()
  }
}

/** Runs `hub serve`: starts the Hub, prints its address, and stops it on SIGINT or SIGTERM. */
export async function serve(config: Config): Promise<void> {
  const log = createLogger(config)
  const isCluster = config.workers > 1 && config.role !== 'worker'
  const metrics = config.metricsPort === undefined ? undefined : new Metrics(isCluster ? 'primary' : undefined)
  const page = metrics && (await openMetrics(config, log))
  const hub = await (isCluster ? startCluster : startHub)(config, log, { metrics }).catch((error: unknown) => {
    page?.close()
    throw error
  })
  page?.show(async () => metrics?.page(await hub.workerMetrics?.()) ?? '')
  for (const warning of startupWarnings(config)) log.warn(warning)
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
    process.exit()
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
}

/** Opens the metrics page before anything else starts, so that a port in use is reported at once. */
function openMetrics({ metricsPort: port = 0, metricsPortConfigured: isChosen }: Config, log: Logger) {
  return openMetricsPage({ port, isChosen, log })
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

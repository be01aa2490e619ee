import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { createApp, createModules, type Modules } from './app.ts'
import { type Config, withListeningPort } from './config.ts'
import { type OpenedDatabase, openDatabase } from './db/open-database.ts'
import { createLogger } from './http/request-log.ts'
import { housekeepingJob } from './jobs/housekeeping.ts'
import { createJobQueue, type JobQueue } from './jobs/queue.ts'
import { StartupError } from './startup-error.ts'

/** A Hub that serves. */
export interface RunningHub {
  /** With the port that was chosen. */
  config: Config
  modules: Modules
  /** Takes no new connection, lets requests and jobs finish for up to `drainSeconds`, then stops everything. */
  stop(): Promise<void>
}

/**
 * Starts everything that the role asks for: database, migrations, API, background jobs.
 *
 * @throws StartupError with what to do, for everything an operator can mend
 */
export async function startHub(
  config: Config,
  log: Logger = createLogger(config),
  openOptions: { postgresSettings?: Record<string, string> } = {},
): Promise<RunningHub> {
  const database = await openDatabase(config, { purpose: 'serve', log, ...openOptions })
  try {
    return await startOn(database, config, log)
  } catch (error) {
    await database.stop()
    throw error
  }
}

async function startOn(database: OpenedDatabase, config: Config, log: Logger): Promise<RunningHub> {
  let listening = config
  const baseUrl = () => listening.baseUrl
  const modules = await createModules({ config, database, masterKey: database.masterKey, baseUrl, log })
  const queue = createJobQueue(database.connection.app, config, log)
  queue.registerJob(
    housekeepingJob(database, () => modules.tenants.directory.slugs(), [
      { name: 'forget expired idempotency keys', run: (tx) => modules.recordStore.idempotency.forgetExpired(tx) },
    ]),
  )
  let app: FastifyInstance | undefined
  try {
    if (config.role !== 'worker') {
      app = await createApp(modules, { config, baseUrl, logger: log })
      listening = withListeningPort(config, await listen(app, config))
      await database.announce(listening.baseUrl)
    }
  } catch (error) {
    await modules.close()
    throw error
  }
  queue.start()
  return { config: listening, modules, stop: () => stopAll({ app, queue, modules, database, config: listening, log }) }
}

/** @throws StartupError when the port is taken or not allowed */
async function listen(app: FastifyInstance, config: Config): Promise<number> {
  try {
    await app.listen({ host: config.host, port: config.port })
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    const where = `${config.host}:${config.port}`
    if (code === 'EADDRINUSE') {
      throw new StartupError(
        `Port ${config.port} is taken: something else listens on ${where}.`,
        'Stop it, or choose another port with HUB_PORT or --port (0 lets the system choose).',
        { cause },
      )
    }
    if (code === 'EACCES' || code === 'EADDRNOTAVAIL') {
      throw new StartupError(
        `The Hub may not listen on ${where} (${code}).`,
        'Set HUB_PORT to a port above 1023 and HUB_HOST to an address of this machine.',
        { cause },
      )
    }
    throw cause
  }
  return (app.server.address() as AddressInfo).port
}

interface Parts {
  app: FastifyInstance | undefined
  queue: JobQueue
  modules: Modules
  database: OpenedDatabase
  config: Config
  log: Logger
}

async function stopAll({ app, queue, modules, database, config, log }: Parts): Promise<void> {
  const drained = app ? closeServer(app) : Promise.resolve()
  const cut = setTimeout(() => {
    log.warn({ seconds: config.drainSeconds }, 'requests took longer than the drain time; closing their connections')
    app?.server.closeAllConnections()
  }, config.drainSeconds * 1000)
  try {
    await Promise.all([drained, queue.stop()])
  } finally {
    clearTimeout(cut)
    await modules.close()
    await database.stop()
  }
}

/**
 * Closes the listener at once, and lets connections that are in use end with their next answer, which says
 * `Connection: close`. Only then closes those that are idle: under load a connection between two requests looks idle,
 * and closing it would break the request that is on its way.
 */
async function closeServer(app: FastifyInstance): Promise<void> {
  const { server } = app
  const closeIdleConnections = server.closeIdleConnections.bind(server)
  server.closeIdleConnections = () => {}
  const idle = setTimeout(closeIdleConnections, idleGraceMs)
  await app.close().finally(() => clearTimeout(idle))
}

/** `hub serve`: starts the Hub, says where it is, and stops it on SIGINT or SIGTERM. */
export async function serve(config: Config): Promise<void> {
  const log = createLogger(config)
  const hub = await startHub(config, log)
  await greet(hub)
  let stoppingSince = 0
  const stop = async (signal: NodeJS.Signals) => {
    if (stoppingSince > 0) {
      // One Ctrl-C arrives twice under npm: from the terminal, and passed on by npm.
      if (performance.now() - stoppingSince > repeatedSignalMs) process.exit(1)
      return
    }
    stoppingSince = performance.now()
    log.info({ signal }, 'stopping; a second signal stops at once')
    await hub.stop().catch((error: unknown) => {
      log.error({ err: error }, 'the Hub did not stop cleanly')
      process.exitCode = 1
    })
    process.exit()
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
}

const repeatedSignalMs = 500
const idleGraceMs = 500
const demoTenant = 'demo'

/** In development the first start makes a tenant to try things with. */
async function greet({ config, modules }: RunningHub): Promise<void> {
  if (config.role === 'worker') return
  const lines = [`Hub: ${config.baseUrl}`]
  if (config.environment === 'development') {
    const demo = await welcomeToDemo(modules)
    if (demo) lines.push(`Welcome (${demoTenant}): ${demo}`, 'Fill it with real data: npm run hub -- demo')
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
  // The first link was shown once and is stored as a hash; while developing, each start shows a fresh one.
  return (await directory.find(demoTenant)) && (await administration.welcomeLink(demoTenant)).welcome.url
}

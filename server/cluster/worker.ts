import type { Socket } from 'node:net'
import { createApp } from '../app.ts'
import { createBackground } from '../background.ts'
import { createModules } from '../create-modules.ts'
import { joinDatabase } from '../db/open-database.ts'
import { drainable } from '../http/drain-server.ts'
import { createLogger } from '../http/request-log.ts'
import { Metrics } from '../metrics/metrics.ts'
import { StartupError } from '../startup-error.ts'
import { openExport } from '../tracing/open-export.ts'
import type { FromWorker, MetricsRequest, ToWorker, WorkerStart } from './ipc-messages.ts'
import { WorkerLimiter } from './ipc-rate-limiter.ts'

/**
 * Answers requests in a process that the primary of a cluster starts. The primary passes it connections. It ends with
 * the primary: `cluster` ends a worker whose channel closes, for any reason.
 */

interface Serving {
  take(socket: Socket): void
  answer: WorkerLimiter['answer']
  report(request: MetricsRequest): Promise<void>
  noteFull(): void
  drain(): Promise<void>
}

/** Sends a message. Errors of a closed channel are dropped, because this process then ends. */
function tell(message: FromWorker): void {
  process.send?.(message, undefined, undefined, () => {})
}

async function startServing({ worker, config: sent, ...start }: WorkerStart): Promise<Serving> {
  const masterKey = Buffer.from(start.masterKey, 'base64')
  // Beside requests, a worker does only the work of the role `api`; the primary does the rest.
  const config = { ...sent, masterKey, role: 'api' as const }
  const exported = await openExport(config)
  const log = createLogger(config, undefined, exported.writeLog).child({ worker })
  const database = joinDatabase(config, { ...start, masterKey, log })
  database.onFull(() => tell({ kind: 'storage-full' }))
  const baseUrl = () => config.baseUrl
  const modules = await createModules({ config, database, masterKey, baseUrl, log })
  const metrics = config.metricsPort === undefined ? undefined : new Metrics(String(worker))
  const limiter = new WorkerLimiter({
    send: tell,
    workers: config.workers,
    log,
    onFallback: (isAlone) => metrics?.setLimiterFallback(isAlone),
  })
  const webUi = { problem: start.webUiProblem }
  const app = await createApp(modules, { config, baseUrl, logger: log, limiter, metrics, webUi })
  const drain = drainable(app, { drainSeconds: config.drainSeconds, log })
  const background = createBackground({ database, app: database.connection.app, modules, config, log, metrics })
  // Node starts its timers for slow requests on `listening`. This server listens only through the primary.
  app.server.emit('listening')
  background.start()
  return {
    answer: (decisions) => limiter.answer(decisions),
    report: async ({ request }) => {
      tell({ kind: 'metrics-answer', request, metrics: (await metrics?.snapshot()) ?? [] })
    },
    noteFull: () => database.noteFull(),
    take: (socket) => {
      // The option is lost between processes. A client may end its half and still wait for the response.
      socket.allowHalfOpen = true
      app.server.emit('connection', socket)
    },
    drain: async () => {
      await Promise.all([drain(), background.stop()])
      await modules.close()
      await database.close()
      await exported.stop()
    },
  }
}

function end(code: number): void {
  // The primary would start a replacement too early if the channel closed before the process.
  process.exit(code)
}

let serving: Promise<Serving> | undefined

async function start(message: WorkerStart): Promise<void> {
  serving = startServing(message)
  try {
    await serving
    tell({ kind: 'ready' })
  } catch (error) {
    const { message: text } = error as Error
    const failure: FromWorker = {
      kind: 'failed',
      message: text,
      ...(error instanceof StartupError && { fix: error.fix }),
    }
    process.send?.(failure, undefined, undefined, () => end(1))
  }
}

async function drain(): Promise<void> {
  const code = await serving
    ?.then((each) => each.drain())
    .then(
      () => 0,
      () => 1,
    )
  end(code ?? 0)
}

function take(connection: number, socket: Socket | undefined): void {
  tell({ kind: 'taken', connection })
  if (socket) {
    socket.once('close', () => tell({ kind: 'closed', connection }))
    void serving?.then((each) => each.take(socket))
  } else {
    tell({ kind: 'closed', connection })
  }
}

process.on('message', (message: ToWorker, socket: Socket | undefined) => {
  if (message.kind === 'start') void start(message)
  else if (message.kind === 'drain') void drain()
  else if (message.kind === 'limiter-answer') void serving?.then((each) => each.answer(message))
  else if (message.kind === 'metrics-request') void serving?.then((each) => each.report(message))
  else if (message.kind === 'storage-full') void serving?.then((each) => each.noteFull())
  else take(message.connection, socket)
})

// Only the primary acts on signals. A terminal and a service manager send them to every process of the service.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})

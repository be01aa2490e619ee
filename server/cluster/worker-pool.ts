import cluster, { type Worker } from 'node:cluster'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { backoff } from '../../contract/backoff.ts'
import type { DatabaseLog } from '../db/database.ts'
import type { RateLimiter } from '../http/rate-limits/rate-limiter.ts'
import type { MetricsSnapshot } from '../metrics/metrics.ts'
import { StartupError } from '../startup-error.ts'
import type { FromWorker, ToWorker, WorkerStart } from './ipc-messages.ts'
import { respondToWorker } from './ipc-rate-limiter.ts'
import { WorkerMetrics } from './worker-metrics.ts'

/** A worker that lived this long did not fail because of its start. */
const steadyMs = 30_000
const restartMs = { first: 100, max: 10_000 }
/** After this many consecutive short lives the log reports a general problem. */
const crashLoopMin = 5
/** Maximum number of connections that wait while no worker is ready. */
const waitingMax = 1000
/** Milliseconds beyond the drain time in which a worker closes its database connections. */
const lastWordsMs = 5000

interface Place {
  number: number
  worker?: Worker
  ready: boolean
  startedAtMs: number
  shortLives: number
  restart?: NodeJS.Timeout
  /** Connections that the worker has not confirmed yet, and whether they were sent. */
  inHand: Map<number, Given & { isSent: boolean }>
  /** Connections of the worker, by id, with the callback for their end. */
  open: Map<number, () => void>
}

/** A connection, and the callback for its end. */
interface Given {
  socket: Socket
  closed: () => void
}

export interface WorkerPoolOptions {
  count: number
  startOf(worker: number): WorkerStart
  drainSeconds: number
  /** Counts the requests of all workers. */
  limiter: RateLimiter
  /** Called when a worker met a full disk of the database. */
  onStorageFull(): void
  log: DatabaseLog
}

/** Keeps the configured number of workers, hands each connection to one of them, and counts requests for all. */
export class WorkerPool {
  readonly #options: WorkerPoolOptions
  readonly #places: Place[]
  readonly #metrics = new WorkerMetrics()
  /** Each settles when the first worker of its place has started. */
  readonly #starts: PromiseWithResolvers<void>[]
  #waiting: Given[] = []
  #turn = 0
  #connections = 0
  #draining = false

  constructor(options: WorkerPoolOptions) {
    this.#options = options
    this.#places = Array.from({ length: options.count }, (_, index) => ({
      number: index + 1,
      ready: false,
      startedAtMs: 0,
      shortLives: 0,
      inHand: new Map(),
      open: new Map(),
    }))
    this.#starts = this.#places.map(() => Promise.withResolvers<void>())
  }

  /**
   * Resolves when every worker accepts connections.
   *
   * @throws StartupError or Error, with the reason of a worker that could not start
   */
  async start(): Promise<void> {
    cluster.setupPrimary({ exec: join(import.meta.dirname, 'worker.ts'), args: [] })
    for (const place of this.#places) this.#fork(place)
    await Promise.all(this.#starts.map((start) => start.promise))
  }

  /** Returns the process ids of the running workers. */
  get pids(): number[] {
    return this.#places.flatMap(({ worker }) => worker?.process.pid ?? [])
  }

  /** Returns the metrics of each worker that answers in time. */
  metrics(): Promise<MetricsSnapshot[]> {
    const running = this.#places.flatMap(({ worker, ready }) => (worker && ready ? [worker] : []))
    return this.#metrics.ask(running.map((worker) => (message) => this.#tell(worker, message)))
  }

  /** Notifies every worker that a process met a full disk of the database. */
  tellStorageFull(): void {
    for (const { worker } of this.#places) if (worker) this.#tell(worker, { kind: 'storage-full' })
  }

  /**
   * Hands a connection to the workers in turn. The socket must be paused, because data read here would be lost.
   *
   * @param closed called once, when the connection closes in any process
   */
  give(socket: Socket, closed: () => void): void {
    const place = this.#nextReady()
    if (!place?.worker) {
      if (this.#draining || this.#waiting.length >= waitingMax) drop({ socket, closed })
      else this.#waiting.push({ socket, closed })
      return
    }
    const connection = ++this.#connections
    const given = { socket, closed, isSent: false }
    place.inHand.set(connection, given)
    const message: ToWorker = { kind: 'connection', connection }
    // Keeps the socket open here until the worker confirms it. Otherwise Node would leave it open for ever if the
    // worker died before.
    place.worker.process.send(message, socket, { keepOpen: true }, (error) => {
      given.isSent = error === null
    })
  }

  /**
   * Lets every worker finish its work for up to the drain time, and resolves when all have ended. Connections given
   * before are still answered, because a worker receives both messages in this order.
   */
  async drain(): Promise<void> {
    this.#draining = true
    for (const given of this.#waiting.splice(0)) drop(given)
    await Promise.all(this.#places.map((place) => this.#drainPlace(place)))
  }

  async #drainPlace(place: Place): Promise<void> {
    clearTimeout(place.restart)
    const { worker } = place
    if (!worker) return
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
    const { drainSeconds, log } = this.#options
    const kill = setTimeout(
      () => {
        log.error({ worker: place.number, pid: worker.process.pid }, 'a worker does not stop; killing it')
        worker.process.kill('SIGKILL')
      },
      drainSeconds * 1000 + lastWordsMs,
    )
    this.#tell(worker, { kind: 'drain' })
    await ended
    clearTimeout(kill)
  }

  #fork(place: Place): void {
    const worker = cluster.fork()
    place.worker = worker
    place.ready = false
    place.startedAtMs = performance.now()
    worker.on('error', (error) => this.#options.log.warn({ err: error, worker: place.number }, 'channel of a worker'))
    worker.on('message', (message: FromWorker) => this.#hear(place, worker, message))
    worker.once('exit', (code, signal) => this.#onExit(place, code, signal))
    this.#tell(worker, this.#options.startOf(place.number))
  }

  #hear(place: Place, worker: Worker, message: FromWorker): void {
    if (message.kind === 'limiter-request') {
      void respondToWorker(this.#options.limiter, message).then((answer) => this.#tell(worker, answer))
    } else if (message.kind === 'metrics-answer') {
      this.#metrics.hear(message)
    } else if (message.kind === 'storage-full') {
      this.#options.onStorageFull()
      this.tellStorageFull()
    } else if (message.kind === 'taken') {
      const given = place.inHand.get(message.connection)
      given?.socket.destroy()
      place.inHand.delete(message.connection)
      if (given) place.open.set(message.connection, given.closed)
    } else if (message.kind === 'closed') {
      place.open.get(message.connection)?.()
      place.open.delete(message.connection)
    } else if (message.kind === 'ready') {
      place.ready = true
      this.#startOf(place).resolve()
      for (const { socket, closed } of this.#waiting.splice(0)) this.give(socket, closed)
    } else {
      const { message: reason, fix } = message
      this.#options.log.error({ worker: place.number, reason }, 'a worker failed to start')
      this.#startOf(place).reject(fix === undefined ? new Error(reason) : new StartupError(reason, fix))
    }
  }

  #onExit(place: Place, code: number | null, signal: string | null): void {
    const { log } = this.#options
    const { worker, number } = place
    delete place.worker
    place.ready = false
    this.#takeBack(place)
    if (this.#draining) return
    this.#startOf(place).reject(new Error(`worker ${number} ended while it started (${signal ?? `exit code ${code}`})`))
    const isShort = performance.now() - place.startedAtMs < steadyMs
    place.shortLives = isShort ? place.shortLives + 1 : 0
    const pauseMs = place.shortLives < 2 ? 0 : backoff(place.shortLives - 2, restartMs)
    const details = { worker: number, pid: worker?.process.pid, code, signal, restart_in_ms: pauseMs }
    log.error(details, 'a worker ended; starting another')
    if (place.shortLives >= crashLoopMin) {
      log.error(
        { worker: number, times: place.shortLives },
        'workers keep stopping soon after their start: see the previous lines for the reason',
      )
    }
    place.restart = setTimeout(() => this.#fork(place), pauseMs)
  }

  /** A worker may already have read from a connection that was sent, so no other worker can answer it. */
  #takeBack({ inHand, open }: Place): void {
    const all = [...inHand.values()]
    inHand.clear()
    for (const { isSent, ...given } of all) {
      if (isSent) drop(given)
      else this.give(given.socket, given.closed)
    }
    for (const closed of open.values()) closed()
    open.clear()
  }

  #nextReady(): Place | undefined {
    for (let tried = 0; tried < this.#places.length; tried++) {
      const place = this.#places[this.#turn++ % this.#places.length]
      if (place?.ready) return place
    }
    return undefined
  }

  #startOf(place: Place): PromiseWithResolvers<void> {
    return this.#starts[place.number - 1] as PromiseWithResolvers<void>
  }

  /** Skips a worker that has disconnected; its exit is handled elsewhere. */
  #tell(worker: Worker, message: ToWorker): void {
    if (worker.isConnected()) worker.process.send(message, () => {})
  }
}

function drop({ socket, closed }: Given): void {
  socket.destroy()
  closed()
}

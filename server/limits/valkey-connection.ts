import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis, type Result } from 'ioredis'
import type { DatabaseLog } from '../db/database.ts'

const scriptNames = ['consume', 'refund', 'heartbeat'] as const
type ScriptName = (typeof scriptNames)[number]

/** The arguments of a script: the number of its keys, its keys and its other arguments. */
type KeysAndArgs = [keys: number, ...keysAndArgs: (string | number)[]]

declare module 'ioredis' {
  interface RedisCommander<Context> {
    consume(...given: KeysAndArgs): Result<number[], Context>
    refund(...given: KeysAndArgs): Result<number[], Context>
    heartbeat(...given: KeysAndArgs): Result<number[], Context>
  }
}

interface ValkeyConnectionOptions {
  url: string
  /** The prefix of every key. It lets several Hubs share one server. */
  prefix: string
  log: Pick<DatabaseLog, 'info' | 'warn'>
  /** Called at the start and at each change. */
  onChange?: (isUp: boolean) => void
  /** Milliseconds of silence, while calls wait, after which the connection is closed. */
  silenceMsMax?: number
}

const connectMsMax = 1000
const silenceMsMax = 500
/** Milliseconds until the next attempt to connect, or to run a script after an error. */
const retryMs = 500
/** Milliseconds that the start waits for the server. */
const startMsMax = 1500
const heartbeatMs = 2000
/** A process whose heartbeat is older than this does not count. */
const processLifeMs = 10_000
/** After a lost connection, processes return one by one. The highest number of the last minute therefore applies. */
const countHoldMs = 60_000

const read = (name: string) => readFileSync(join(import.meta.dirname, `${name}.lua`), 'utf8')

/**
 * Creates a client that reconnects for ever, and never queues a command: a command that it cannot send, or whose
 * connection is lost, rejects. Commands of one turn of the event loop travel together. It sends a script in full on
 * first use of a connection, by its digest afterwards, and in full again after NOSCRIPT.
 */
function createClient({ url, prefix, silenceMsMax: socketTimeout = silenceMsMax }: ValkeyConnectionOptions): Redis {
  const client = new Redis(url.replace(/^valkey/, 'redis'), {
    protocol: 2,
    keyPrefix: prefix,
    enableAutoPipelining: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    connectTimeout: connectMsMax,
    socketTimeout,
    maxLoadingRetryTime: retryMs,
    retryStrategy: () => retryMs,
    disableClientInfo: true,
  })
  const slots = read('slots')
  for (const name of scriptNames) client.defineCommand(name, { lua: `${slots}\n${read(name)}` })
  return client
}

/**
 * Runs scripts in Valkey while it is available, with a circuit breaker (ADR 0069). Any failure (no connection, silence,
 * an error) opens the circuit, until both scripts of a heartbeat succeed.
 */
export class ValkeyConnection {
  private readonly options: ValkeyConnectionOptions
  private readonly client: Redis
  private readonly process = randomUUID()
  private state: 'starting' | 'up' | 'away' | 'closed' = 'starting'
  private readonly started = Promise.withResolvers<void>()
  private heartbeat: NodeJS.Timeout | undefined
  private known = { processes: 1, untilMs: 0 }
  private lastError = 'the connection was closed'

  constructor(options: ValkeyConnectionOptions) {
    this.options = options
    this.client = createClient(options)
    this.client.on('error', (error: Error & { code?: string }) => {
      this.lastError = error.message || (error.code ?? error.name)
    })
    this.client.on('close', () => this.leave(this.lastError))
    this.client.on('ready', () => {
      this.lastError = 'the connection was closed'
      void this.beat()
    })
  }

  /** Resolves when the server is available, or when the time for a start has passed. */
  async start(): Promise<void> {
    const timer = setTimeout(() => this.enter('away'), startMsMax)
    await this.started.promise
    clearTimeout(timer)
  }

  get isUp(): boolean {
    return this.state === 'up'
  }

  /** Returns the last known number of connected processes, this one included; at least 1. */
  get processes(): number {
    return this.known.processes
  }

  /** Runs one script. Rejects if the server is not available. */
  async call(script: ScriptName, keys: readonly string[], args: readonly (string | number)[]): Promise<number[]> {
    try {
      return await this.client[script](keys.length, ...keys, ...args)
    } catch (error) {
      this.leave((error as Error).message)
      throw error
    }
  }

  async close(): Promise<void> {
    if (this.isUp) await this.announce(0).catch(() => {})
    this.state = 'closed'
    clearTimeout(this.heartbeat)
    this.client.disconnect()
  }

  /** Tests, on a new connection and periodically, whether it can write, and counts the processes. */
  private async beat(): Promise<void> {
    clearTimeout(this.heartbeat)
    const trial = this.call('consume', [`trial ${this.process}`], [1])
    const processes = await Promise.all([this.announce(processLifeMs), trial]).then(
      ([count]) => Number(count),
      () => undefined,
    )
    if (processes !== undefined) {
      this.countProcesses(processes)
      this.enter('up')
    }
    if (this.client.status !== 'ready') return
    this.heartbeat = setTimeout(() => void this.beat(), this.isUp ? heartbeatMs : retryMs).unref()
  }

  private announce(lifeMs: number): Promise<number[]> {
    return this.call('heartbeat', ['processes'], [this.process, lifeMs])
  }

  private countProcesses(processes: number): void {
    const nowMs = performance.now()
    if (processes < this.known.processes && nowMs < this.known.untilMs) return
    this.known = { processes: Math.max(1, processes), untilMs: nowMs + countHoldMs }
  }

  private leave(reason: string): void {
    this.lastError = reason
    if (this.state === 'up') this.enter('away')
  }

  private enter(state: 'up' | 'away'): void {
    if (this.state === state || this.state === 'closed') return
    const { processes } = this
    const { log, onChange } = this.options
    if (state === 'away') {
      const details = { reason: this.lastError, processes }
      log.warn(details, 'Valkey is unavailable: each process applies its share of the rate limits')
    } else if (this.state === 'away') {
      log.info({ processes }, 'Valkey responds again: rate limits are exact')
    }
    this.state = state
    onChange?.(state === 'up')
    this.started.resolve()
  }
}

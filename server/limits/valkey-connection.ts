import { randomUUID } from 'node:crypto'
import type { DatabaseLog } from '../db/database.ts'
import { createClient, type LimiterClient, type ScriptName } from './valkey-client.ts'

export interface ValkeyConnectionOptions {
  url: string
  /** The prefix of every key. It lets several Hubs share one server. */
  prefix: string
  log: Pick<DatabaseLog, 'info' | 'warn'>
  /** Called at the start and at each change. */
  onChange?: (isUp: boolean) => void
  /** Milliseconds to wait for a response. */
  patienceMs?: number
}

/** Milliseconds that the start waits for the server. */
const startMsMax = 1500
const heartbeatMs = 2000
/** A process whose heartbeat is older than this does not count. */
const processLifeMs = 10_000
/** After a lost connection, processes return one by one. The highest number of the last minute therefore applies. */
const countHoldMs = 60_000

interface Call {
  script: ScriptName
  keys: readonly string[]
  args: readonly (string | number)[]
  resolve(answer: number[]): void
  reject(error: Error): void
}

/**
 * Runs scripts in Valkey while it is available, with a circuit breaker. Any failure (no connection, no response in
 * time, an error) opens the circuit. All waiting calls then fail at once, and no further call is sent. The client
 * reconnects until a test on the new connection succeeds.
 */
export class ValkeyConnection {
  private readonly options: Required<ValkeyConnectionOptions>
  private readonly client: LimiterClient
  private readonly process = randomUUID()
  private readonly asked = new Set<Call>()
  private queue: Call[] = []
  private state: 'starting' | 'up' | 'away' | 'closed' = 'starting'
  private readonly started = Promise.withResolvers<void>()
  /** Whether the current connection has failed and is being closed. */
  private isGivenUp = false
  private heartbeat: NodeJS.Timeout | undefined
  private known = { processes: 1, untilMs: 0 }
  private lastError = 'it does not answer'

  constructor(options: ValkeyConnectionOptions) {
    this.options = { patienceMs: 250, onChange: () => {}, ...options }
    this.client = createClient(options.url)
    this.client.on('error', (error: Error & { code?: string }) => {
      this.lastError = error.message || (error.code ?? error.name)
    })
    this.client.on('close', () => this.fail('the connection was closed'))
    this.client.on('ready', () => {
      this.isGivenUp = false
      void this.tryOut()
    })
  }

  /** Resolves when the server is available, or when the time for a start has passed. */
  async start(): Promise<void> {
    const timer = setTimeout(() => this.leave(this.lastError), startMsMax)
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

  /** Runs one script. Calls of one turn of the event loop travel together. Rejects if the server is not available. */
  call(script: ScriptName, keys: readonly string[], args: readonly (string | number)[]): Promise<number[]> {
    return new Promise((resolve, reject) => {
      const call = { script, keys: keys.map((key) => this.options.prefix + key), args, resolve, reject }
      this.asked.add(call)
      if (this.queue.push(call) === 1) setImmediate(() => void this.flush())
    })
  }

  async close(): Promise<void> {
    const wasUp = this.isUp
    clearTimeout(this.heartbeat)
    if (wasUp) await this.announce(0).catch(() => {})
    this.state = 'closed'
    this.client.disconnect()
    this.rejectAll(new Error('closed'))
  }

  private async flush(): Promise<void> {
    const calls = this.queue
    this.queue = []
    if (calls.length === 0) return
    // If this process was busy for a whole turn, the response may have arrived unread. `setImmediate` reads it first.
    const late = () => setImmediate(() => this.asked.has(calls[0] as Call) && this.fail('it does not answer in time'))
    const timer = setTimeout(late, this.options.patienceMs).unref()
    const answers = await this.send(calls)
    clearTimeout(timer)
    for (const [index, call] of calls.entries()) {
      const [error, answer] = answers[index] ?? [new Error('no answer'), null]
      this.asked.delete(call)
      if (error) {
        call.reject(error)
        this.fail(error.message)
      } else call.resolve(answer as number[])
    }
  }

  private async send(calls: readonly Call[]): Promise<[error: Error | null, answer: unknown][]> {
    try {
      const pipeline = this.client.pipeline()
      for (const { script, keys, args } of calls) pipeline[script](keys.length, ...keys, ...args)
      return (await pipeline.exec()) ?? []
    } catch (error) {
      return calls.map(() => [error as Error, null])
    }
  }

  /** Tests, on a new connection and periodically, whether it can write, and counts the processes. */
  private async tryOut(): Promise<void> {
    try {
      const [processes] = await Promise.all([
        this.announce(processLifeMs),
        this.call('consume', [`trial ${this.process}`], [1]),
      ])
      this.countProcesses(Number(processes))
    } catch (error) {
      this.fail((error as Error).message)
      return
    }
    if (this.state === 'closed') return
    if (this.state === 'away') {
      this.options.log.info({ processes: this.processes }, 'Valkey answers again: rate limits are exact')
    }
    this.enter('up')
    clearTimeout(this.heartbeat)
    this.heartbeat = setTimeout(() => void this.tryOut(), heartbeatMs).unref()
  }

  private announce(lifeMs: number): Promise<number[]> {
    return this.call('heartbeat', ['processes'], [this.process, lifeMs])
  }

  private countProcesses(processes: number): void {
    const nowMs = performance.now()
    if (processes < this.known.processes && nowMs < this.known.untilMs) return
    this.known = { processes: Math.max(1, processes), untilMs: nowMs + countHoldMs }
  }

  private fail(reason: string): void {
    if (this.state === 'closed') return
    clearTimeout(this.heartbeat)
    if (this.state === 'up') this.leave(reason)
    else this.lastError = reason
    this.rejectAll(new Error(reason))
    // Late responses on this connection would be mistaken for responses to later calls.
    if (this.client.status !== 'ready' || this.isGivenUp) return
    this.isGivenUp = true
    this.client.disconnect(true)
  }

  private leave(reason: string): void {
    if (this.state === 'away' || this.state === 'closed') return
    this.options.log.warn(
      { reason, processes: this.processes },
      'Valkey is away: each process allows its share of the rate limits',
    )
    this.enter('away')
  }

  private enter(state: 'up' | 'away'): void {
    if (this.state === state) return
    this.state = state
    this.options.onChange(state === 'up')
    this.started.resolve()
  }

  private rejectAll(error: Error): void {
    for (const call of this.asked) call.reject(error)
    this.asked.clear()
    this.queue = []
  }
}

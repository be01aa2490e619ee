import { randomUUID } from 'node:crypto'
import type { DatabaseLog } from '../db/database.ts'
import { createClient, type LimiterClient, type ScriptName } from './valkey-client.ts'

export interface ValkeyConnectionOptions {
  url: string
  /** Of every key, so that several Hubs may use one server. */
  prefix: string
  log: Pick<DatabaseLog, 'info' | 'warn'>
  /** Told at the start and at each change. */
  onChange?: (isUp: boolean) => void
  /** How long an answer may take. */
  patienceMs?: number
}

/** How long the start waits for the server. */
const startMsMax = 1500
const heartbeatMs = 2000
/** A process that did not say for so long that it is there, is not. */
const processLifeMs = 10_000
/** After the loss of a connection processes come back one by one: the highest number of the last minute holds. */
const countHoldMs = 60_000

interface Call {
  script: ScriptName
  keys: readonly string[]
  args: readonly (string | number)[]
  resolve(answer: number[]): void
  reject(error: Error): void
}

/**
 * Runs scripts in Valkey while it is well, and knows when it is not. One failure of whatever kind (no connection, no
 * answer in time, an error) opens the circuit: all that waits fails at once, nothing more is asked, and a new connection
 * is made until a trial on it goes well.
 */
export class ValkeyConnection {
  private readonly options: Required<ValkeyConnectionOptions>
  private readonly client: LimiterClient
  private readonly process = randomUUID()
  private readonly asked = new Set<Call>()
  private queue: Call[] = []
  private state: 'starting' | 'up' | 'away' | 'closed' = 'starting'
  private readonly started = Promise.withResolvers<void>()
  /** Whether the connection there is has failed, and is being closed. */
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

  /** Resolves when the server is there, or has not been for as long as a start may take. */
  async start(): Promise<void> {
    const timer = setTimeout(() => this.leave(this.lastError), startMsMax)
    await this.started.promise
    clearTimeout(timer)
  }

  get isUp(): boolean {
    return this.state === 'up'
  }

  /** Processes that are connected, this one included, as last known; at least 1. */
  get processes(): number {
    return this.known.processes
  }

  /** One script call; those of one turn of the event loop travel together. Rejects when the server is not well. */
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
    // After a turn in which this process itself was busy, the answer may be there unread: it is read before.
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

  /** On a new connection, and now and then: whether it can write, and how many processes there are. */
  private async tryOut(): Promise<void> {
    try {
      const [processes] = await Promise.all([
        this.announce(processLifeMs),
        this.call('take', [`trial ${this.process}`], [1]),
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
    return this.call('announce', ['processes'], [this.process, lifeMs])
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
    // What is owed on this connection would come before the answers to later questions.
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

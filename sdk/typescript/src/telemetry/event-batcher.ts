import { pause, unrefTimer } from '../retry.ts'
import { numberOf, type Transport } from '../transport.ts'
import type { TelemetryEvent } from '../types.ts'
import { BatchSender, type RejectedEvent } from './batch-sender.ts'
import type { BatchStore, OpenBatch, StoredBatch } from './batch-types.ts'
import { openSpool, type SpoolOptions } from './disk-spool.ts'
import { utf8LengthOf } from './event-body.ts'
import { onProcessExit } from './exit-flush.ts'
import { MemoryBatches } from './memory-batches.ts'

/** Options of `telemetry.track`. */
export interface BatcherOptions {
  /** Events of a request, at most 1,000; defaults to 1,000. */
  maxBatchEvents?: number
  /** Bytes of a request, at most 8 MiB; defaults to 1 MiB. */
  maxBatchBytes?: number
  /** Milliseconds until a batch that is not full is sent; defaults to 1,000. */
  flushIntervalMs?: number
  /** Requests at a time; defaults to 2. */
  concurrency?: number
  /** Events that wait in memory; defaults to 10,000. */
  maxBufferedEvents?: number
  /** Bytes that wait in memory, or to be written to the spool; defaults to 16 MiB. */
  maxBufferedBytes?: number
  /** If the buffer is full, `track` waits for room (the default), or drops the event and counts it. */
  whenFull?: 'wait' | 'drop'
  /** Milliseconds that `track` waits for room before it rejects; defaults to 30,000. */
  fullWaitMs?: number
  /** Milliseconds that the end of the program waits for unsent events; defaults to 5,000. */
  exitFlushMs?: number
  /** Keeps events on disk until they are sent, so that they survive the process. Node, Bun and Deno only. */
  spool?: SpoolOptions
  /** Receives events that the Hub refused for good. */
  onRejected?: (rejected: readonly RejectedEvent[]) => void
  /** Receives errors that are retried, such as lost connections and refused credentials. */
  onError?: (error: unknown) => void
}

/** Counts of tracked events. */
export interface BatcherStats {
  /** Events that are buffered and have no answer yet. Without those of earlier processes. */
  queued: number
  accepted: number
  rejected: number
  dropped: number
}

/** Thrown by `track` if the buffer stays full, or the batcher is closed. */
export class TelemetryBufferError extends Error {
  override readonly name: string = 'TelemetryBufferError'
}

const eventBytesMax = 64 * 1024

/** Gathers events into batches and sends them in the background, within bounds of memory, disk and time. */
export class EventBatcher {
  readonly #limits: Required<Omit<BatcherOptions, 'spool' | 'onRejected' | 'onError'>>
  readonly #ready: Promise<BatchStore>
  readonly #sender: BatchSender
  readonly #onError: (error: unknown) => void
  readonly #stopping = new AbortController()
  readonly #waiting: (() => void)[] = []
  readonly #unfinished = new Set<Promise<void>>()
  readonly #sealed: SealedBatch[] = []
  readonly #stats: BatcherStats = { queued: 0, accepted: 0, rejected: 0, dropped: 0 }
  readonly #forgetExit: () => void
  #store: BatchStore | undefined
  #open: { batch: OpenBatch; events: number; bytes: number } | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #active = 0
  #closed: Promise<BatcherStats> | undefined

  constructor(transport: Transport, options: BatcherOptions = {}) {
    this.#limits = limitsOf(options)
    this.#onError = options.onError ?? (() => undefined)
    this.#sender = new BatchSender(transport, {
      onRejected: options.onRejected ?? (() => undefined),
      onError: this.#onError,
    })
    this.#ready = this.#start(options.spool)
    // `track` reports it.
    this.#ready.catch(() => undefined)
    this.#forgetExit = onProcessExit(async () => {
      if (this.#stats.queued > 0) await this.flush({ timeoutMs: this.#limits.exitFlushMs })
      return this.#stats.queued === 0
    })
  }

  get stats(): BatcherStats {
    return { ...this.#stats }
  }

  /**
   * Buffers an event. Resolves true when it is buffered, with a spool: stored on disk. Resolves false if the buffer is
   * full and the event was dropped.
   *
   * @throws {TelemetryBufferError} if the buffer stays full, or the batcher is closed
   * @throws {RangeError} for an event of more than 64 KiB
   */
  async track(event: TelemetryEvent): Promise<boolean> {
    const line = JSON.stringify(event)
    const byteLength = utf8LengthOf(line)
    if (byteLength === undefined) throw new RangeError('An event must have at most 65,536 bytes')
    // One more for its separator.
    const bytes = byteLength + 1
    const store = this.#store ?? (await this.#ready)
    this.#refuseIfClosed()
    if (this.#waiting.length > 0 || !store.hasRoom(bytes)) {
      if (this.#limits.whenFull === 'drop') {
        this.#stats.dropped += 1
        return false
      }
      await this.#room(store, bytes)
    }
    await this.#add(store, line, byteLength)
    return true
  }

  /**
   * Sends what is buffered now. Resolves true when the Hub has answered for all of it, false after `timeoutMs`
   * (10,000 by default).
   */
  async flush({ timeoutMs = 10_000 }: { timeoutMs?: number } = {}): Promise<boolean> {
    await this.#ready
    this.#seal()
    const ended = new AbortController()
    const late = pause(timeoutMs, ended.signal).then(
      () => false,
      () => true,
    )
    const done = Promise.all(this.#unfinished).then(() => true)
    const isDone = await Promise.race([done, late])
    ended.abort()
    return isDone
  }

  /** Refuses further events, flushes, and stops. What is unsent after `timeoutMs` stays in the spool, or is lost. */
  close(options: { timeoutMs?: number } = {}): Promise<BatcherStats> {
    this.#closed ??= this.#close(options)
    return this.#closed
  }

  async #close(options: { timeoutMs?: number }): Promise<BatcherStats> {
    this.#forgetExit()
    const store = await this.#ready.catch(() => undefined)
    if (!store) return this.stats
    for (const wake of this.#waiting.splice(0)) wake()
    await this.flush(options)
    this.#stopping.abort()
    await Promise.all(this.#unfinished)
    await store.close()
    return this.stats
  }

  async #start(spool: SpoolOptions | undefined): Promise<BatchStore> {
    const onRoom = () => this.#waiting.shift()?.()
    if (spool === undefined) this.#store = new MemoryBatches(this.#limits, onRoom)
    else {
      const { store, found } = await openSpool(spool, this.#limits.maxBufferedBytes, onRoom)
      this.#store = store
      for (const batch of found) this.#enqueue(batch, { events: 0 })
    }
    return this.#store
  }

  /** Waits for room. Later calls wait behind. */
  async #room(store: BatchStore, bytes: number): Promise<void> {
    // Callers that do not await `track` may not fill the memory, either.
    if (this.#waiting.length >= this.#limits.maxBufferedEvents) throw new TelemetryBufferError(fullMessage)
    const deadline = Date.now() + this.#limits.fullWaitMs
    do {
      const wait = new AbortController()
      const wake = () => wait.abort()
      this.#waiting.push(wake)
      const isLate = await pause(deadline - Date.now(), wait.signal).then(
        () => true,
        () => false,
      )
      if (isLate) {
        this.#waiting.splice(this.#waiting.indexOf(wake), 1)
        throw new TelemetryBufferError(fullMessage)
      }
      this.#refuseIfClosed()
    } while (!store.hasRoom(bytes))
    // One batch makes room for many events.
    this.#waiting.shift()?.()
  }

  #refuseIfClosed(): void {
    if (this.#closed) throw new TelemetryBufferError('The client is closed')
  }

  #add(store: BatchStore, line: string, byteLength: number): Promise<void> {
    const bytes = byteLength + 1
    const { maxBatchEvents, maxBatchBytes, flushIntervalMs } = this.#limits
    if (this.#open && this.#open.bytes + bytes > maxBatchBytes) this.#seal()
    if (!this.#open) {
      this.#open = { batch: store.open(), events: 0, bytes: 0 }
      this.#sealIn(flushIntervalMs)
    }
    const open = this.#open
    open.events += 1
    open.bytes += bytes
    this.#stats.queued += 1
    const added = open.batch.add(line, byteLength)
    if (open.events >= maxBatchEvents) this.#seal()
    return added.catch((error) => {
      this.#stats.queued -= 1
      open.events -= 1
      throw error
    })
  }

  #sealIn(ms: number): void {
    this.#timer = setTimeout(() => this.#sealLater(), ms)
    unrefTimer(this.#timer)
  }

  /** Seals the open batch, unless batches wait already: it may become full meanwhile. */
  #sealLater(): void {
    if (this.#sealed.length === 0) this.#seal()
    else this.#sealIn(this.#limits.flushIntervalMs)
  }

  #seal(): void {
    clearTimeout(this.#timer)
    const open = this.#open
    if (!open) return
    this.#open = undefined
    open.batch.seal()
    this.#enqueue(open.batch, open)
  }

  #enqueue(batch: StoredBatch, counted: { events: number }): void {
    const finished = new Promise<void>((resolve) => {
      this.#sealed.push({ batch, counted, finish: resolve })
    })
    this.#unfinished.add(finished)
    void finished.then(() => this.#unfinished.delete(finished))
    this.#pump()
  }

  #pump(): void {
    while (this.#active < this.#limits.concurrency) {
      const sealed = this.#sealed.shift()
      if (!sealed) return
      this.#active += 1
      void this.#send(sealed)
        .catch(this.#onError)
        .finally(() => {
          this.#active -= 1
          sealed.finish()
          this.#pump()
        })
    }
  }

  async #send({ batch, counted }: SealedBatch): Promise<void> {
    const sent = await this.#sender.send(batch, this.#stopping.signal)
    if (!sent) return
    this.#stats.accepted += sent.accepted
    this.#stats.rejected += sent.rejected
    this.#stats.queued -= counted.events
    await batch.remove()
  }
}

interface SealedBatch {
  batch: StoredBatch
  /** Falls if the disk refuses an event after the batch was sealed. */
  counted: { events: number }
  finish: () => void
}

const fullMessage = 'The buffer of telemetry is full: the Hub does not take events as fast as they are tracked'

function limitsOf(options: BatcherOptions) {
  const { whenFull = 'wait' } = options
  if (whenFull !== 'wait' && whenFull !== 'drop') throw new TypeError('whenFull must be wait or drop')
  const between = (name: keyof BatcherOptions, initial: number, min: number, max: number) => {
    const value = numberOf(name, Number(options[name] ?? initial))
    if (value < min || value > max) throw new RangeError(`${name} must be from ${min} to ${max}`)
    return value
  }
  return {
    whenFull,
    maxBatchEvents: between('maxBatchEvents', 1000, 1, 1000),
    maxBatchBytes: between('maxBatchBytes', 1 << 20, 1024, 8 << 20),
    flushIntervalMs: between('flushIntervalMs', 1000, 1, 3_600_000),
    concurrency: between('concurrency', 2, 1, 16),
    maxBufferedEvents: between('maxBufferedEvents', 10_000, 1, 1_000_000),
    maxBufferedBytes: between('maxBufferedBytes', 16 << 20, eventBytesMax, 1 << 30),
    fullWaitMs: between('fullWaitMs', 30_000, 0, 3_600_000),
    exitFlushMs: between('exitFlushMs', 5000, 0, 600_000),
  }
}

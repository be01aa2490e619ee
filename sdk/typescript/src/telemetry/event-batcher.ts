import { pause, unrefTimer } from '../retry.ts'
import type { Transport } from '../transport.ts'
import type { TelemetryEvent } from '../types.ts'
import { BatchSender } from './batch-sender.ts'
import { type BatchStore, EventsLost, type OpenBatch, type StoredBatch, TelemetryBufferError } from './batch-types.ts'
import { type BatcherOptions, type BatcherStats, type Limits, limitsOf } from './batcher-options.ts'
import { openSpool, type SpoolOptions } from './disk-spool.ts'
import { utf8LengthOf } from './event-body.ts'
import { onProcessExit } from './exit-flush.ts'
import { MemoryBatches } from './memory-batches.ts'
import { Reports, wordsOf } from './reports.ts'

/** Gathers events into batches and sends them in the background, within bounds of memory, disk and time. */
export class EventBatcher {
  readonly #limits: Limits
  readonly #ready: Promise<BatchStore>
  readonly #sender: BatchSender
  readonly #reports: Reports
  readonly #stopping = new AbortController()
  /** Wakes the callers that wait for room, the first one first. */
  readonly #waiting = new Set<() => void>()
  /** Bytes of their events. */
  #waitingBytes = 0
  /** Each one resolves to true if the Hub has answered for the batch. */
  readonly #unfinished = new Set<Promise<boolean>>()
  readonly #sealed: SealedBatch[] = []
  readonly #stats: BatcherStats = { queued: 0, accepted: 0, rejected: 0, dropped: 0 }
  readonly #removeExitListener: () => void
  #store: BatchStore | undefined
  #open: { batch: OpenBatch; events: number; bytes: number } | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #active = 0
  #closed: Promise<BatcherStats> | undefined

  constructor(transport: Transport, options: BatcherOptions = {}) {
    this.#limits = limitsOf(options)
    this.#reports = new Reports(options)
    this.#sender = new BatchSender(transport, this.#reports)
    this.#ready = this.#start(options.spool)
    // `track` reports it.
    this.#ready.catch(() => undefined)
    const flush = async () => {
      if (this.#stats.queued > 0) await this.flush({ timeoutMs: this.#limits.exitFlushMs })
      return this.#stats.queued === 0
    }
    this.#removeExitListener = onProcessExit(flush, () => this.#leavePage())
  }

  get stats(): BatcherStats {
    const { lastError } = this.#reports
    return { ...this.#stats, ...(lastError === undefined ? {} : { lastError }) }
  }

  /** Reports an error to the application. */
  report(error: unknown): void {
    this.#reports.error(error)
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
    this.#rejectIfClosed()
    if (this.#waiting.size > 0 || !store.hasRoom(bytes)) {
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
   * (10,000 by default), or if the spool could not read some of it.
   */
  async flush({ timeoutMs = 10_000 }: { timeoutMs?: number } = {}): Promise<boolean> {
    await this.#ready
    this.#seal()
    const ended = new AbortController()
    const late = pause(timeoutMs, ended.signal).then(
      () => false,
      () => true,
    )
    const done = Promise.all(this.#unfinished).then((answered) => answered.every(Boolean))
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
    this.#removeExitListener()
    const store = await this.#ready.catch(() => undefined)
    if (!store) return this.stats
    while (this.#waiting.size > 0) this.#wakeNext()
    await this.flush(options)
    this.#stopping.abort()
    await Promise.all(this.#unfinished)
    await store.close()
    return this.stats
  }

  async #start(spool: SpoolOptions | undefined): Promise<BatchStore> {
    const onRoom = () => this.#wakeNext()
    if (spool === undefined) this.#store = new MemoryBatches(this.#limits, onRoom)
    else {
      const { store, found } = await openSpool(spool, this.#limits.maxBufferedBytes, onRoom)
      this.#store = store
      for (const batch of found) this.#enqueue(batch, { events: 0 })
      this.#pump()
    }
    return this.#store
  }

  /** Waits for room. Later calls wait behind. */
  async #room(store: BatchStore, bytes: number): Promise<void> {
    const { maxBufferedEvents, maxBufferedBytes, fullWaitMs } = this.#limits
    // Callers that do not await `track` may not fill the memory, either.
    const hasPlace = this.#waiting.size < maxBufferedEvents && this.#waitingBytes + bytes <= maxBufferedBytes
    if (!hasPlace) throw this.#fullError()
    this.#waitingBytes += bytes
    try {
      const deadline = Date.now() + fullWaitMs
      do {
        const wait = new AbortController()
        const wake = () => wait.abort()
        this.#waiting.add(wake)
        const isLate = await pause(deadline - Date.now(), wait.signal).then(
          () => true,
          () => false,
        )
        if (isLate) {
          // Passes on a call that came too late.
          if (!this.#waiting.delete(wake)) this.#wakeNext()
          throw this.#fullError()
        }
        this.#rejectIfClosed()
      } while (!store.hasRoom(bytes))
    } finally {
      this.#waitingBytes -= bytes
    }
    // One batch makes room for many events.
    this.#wakeNext()
  }

  #wakeNext(): void {
    const [wake] = this.#waiting
    if (wake === undefined) return
    this.#waiting.delete(wake)
    wake()
  }

  #fullError(): TelemetryBufferError {
    const cause = this.#reports.lastError
    const full = 'The buffer of telemetry is full: '
    if (cause !== undefined) return new TelemetryBufferError(`${full}${wordsOf(cause)}`, { cause })
    return new TelemetryBufferError(`${full}the Hub does not take events as fast as they are tracked`)
  }

  #rejectIfClosed(): void {
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

  /** Sends the newest batch at once, in a way that outlives the page. A page that is shown again sends the others. */
  #leavePage(): void {
    this.#seal({ isLast: true })
    const newest = this.#sealed.pop()
    if (newest) this.#begin(newest, true)
  }

  #seal({ isLast = false } = {}): void {
    clearTimeout(this.#timer)
    const open = this.#open
    if (!open) return
    this.#open = undefined
    open.batch.seal()
    this.#enqueue(open.batch, open)
    if (!isLast) this.#pump()
  }

  #enqueue(batch: StoredBatch, counted: { events: number }): void {
    const finished = new Promise<boolean>((resolve) => {
      this.#sealed.push({ batch, counted, finish: resolve })
    })
    this.#unfinished.add(finished)
    void finished.then(() => this.#unfinished.delete(finished))
  }

  #pump(): void {
    while (this.#active < this.#limits.concurrency) {
      const sealed = this.#sealed.shift()
      if (!sealed) return
      this.#begin(sealed)
    }
  }

  #begin(sealed: SealedBatch, isLast = false): void {
    this.#active += 1
    void this.#send(sealed, isLast).then((isAnswered) => {
      this.#active -= 1
      sealed.finish(isAnswered)
      this.#pump()
    })
  }

  /** Sends a batch and forgets it. Resolves false if the Hub has not answered for it. Never rejects. */
  async #send({ batch, counted }: SealedBatch, isLast: boolean): Promise<boolean> {
    let isAnswered = false
    try {
      const sent = await this.#sender.send(batch, this.#stopping.signal, isLast)
      if (!sent) return false
      isAnswered = true
      this.#stats.accepted += sent.accepted
      this.#stats.rejected += sent.rejected
    } catch (error) {
      this.report(error)
      // Another fault may be gone when the next process reads the file.
      if (!(error instanceof EventsLost)) return false
      this.#stats.dropped += counted.events
    }
    this.#stats.queued -= counted.events
    await batch.remove().catch((error) => this.report(error))
    return isAnswered
  }
}

interface SealedBatch {
  batch: StoredBatch
  /** Falls if the disk refuses an event after the batch was sealed. */
  counted: { events: number }
  finish: (isAnswered: boolean) => void
}

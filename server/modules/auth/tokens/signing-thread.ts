import type { KeyObject } from 'node:crypto'
import { Worker } from 'node:worker_threads'

/** A task for the thread, which returns the signatures in order. */
export interface SigningTask {
  key: KeyObject
  contents: string[]
}

/** The callbacks of a task; exactly one of them is called. */
interface Outcome {
  done(signatures: readonly string[]): void
  /** Called if the thread ended before it finished the task. */
  lost(): void
}

/** Maximum number of tasks sent to the thread before the first one is done. */
const pendingMax = 4

/** Runs a thread that signs. It starts on first use, and a thread that ended is replaced on the next use. */
export class SigningThread {
  readonly #entry: URL
  readonly #pending: Outcome[] = []
  #worker: Worker | undefined
  #isReady = false

  /**
   * @param entry the thread's script: posts `ready`, then answers each {@link SigningTask} with an array of signatures
   */
  constructor(entry: URL) {
    this.#entry = entry
  }

  /** Whether the thread would begin soon. Starts the thread if it is not running. */
  get isFree(): boolean {
    this.#worker ??= this.#start()
    return this.#isReady && this.#pending.length < pendingMax
  }

  /** Sends a task. Call this only while the thread is free. */
  sign(task: SigningTask, outcome: Outcome): void {
    // The process stays alive while a task is pending.
    if (this.#pending.push(outcome) === 1) this.#worker?.ref()
    this.#worker?.postMessage(task)
  }

  #start(): Worker {
    const worker = new Worker(this.#entry, { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: 64 } })
    worker.unref()
    worker.on('message', (message: 'ready' | string[]) => {
      if (message === 'ready') {
        this.#isReady = true
        return
      }
      this.#pending.shift()?.done(message)
      if (this.#pending.length === 0) worker.unref()
    })
    // The cause does not matter: the caller signs the lost tasks itself.
    worker.on('error', () => {})
    worker.on('exit', () => {
      this.#worker = undefined
      this.#isReady = false
      for (const { lost } of this.#pending.splice(0)) lost()
    })
    return worker
  }
}

import type { KeyObject } from 'node:crypto'
import { Worker } from 'node:worker_threads'

/** What the thread is sent. It answers with the signatures, in order. */
export interface SigningTask {
  key: KeyObject
  contents: string[]
}

/** One of the two is called for each task. */
interface Outcome {
  done(signatures: readonly string[]): void
  /** The thread ended before it had done the task. */
  lost(): void
}

/** Tasks that it is sent before the first is done. */
const pendingMax = 4

/** A thread that signs, started when it is first wanted. One that ends is replaced when the next is wanted. */
export class SigningThread {
  readonly #entry: URL
  readonly #pending: Outcome[] = []
  #worker: Worker | undefined
  #isReady = false

  /** @param entry of the thread: says `ready`, and then answers each {@link SigningTask} with an array of signatures */
  constructor(entry: URL) {
    this.#entry = entry
  }

  /** Whether it would begin soon. Starts it where it is not there. */
  get isFree(): boolean {
    this.#worker ??= this.#start()
    return this.#isReady && this.#pending.length < pendingMax
  }

  /** To be called only while it is free. */
  sign(task: SigningTask, outcome: Outcome): void {
    // The process lives on as long as somebody waits for the thread.
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
    // Why it ended makes no difference: its tasks are done elsewhere.
    worker.on('error', () => {})
    worker.on('exit', () => {
      this.#worker = undefined
      this.#isReady = false
      for (const { lost } of this.#pending.splice(0)) lost()
    })
    return worker
  }
}

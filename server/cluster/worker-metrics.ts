import type { MetricsSnapshot } from '../metrics/metrics.ts'
import type { MetricsRequest, MetricsResponse } from './ipc-messages.ts'

/** The page omits a worker that is busy for longer; the next page contains it again. */
const patienceMs = 1000

/** Collects the metrics of the workers. */
export class WorkerMetrics {
  private readonly waiting = new Map<number, (answer: MetricsSnapshot) => void>()
  private requests = 0

  /** Returns the metrics of every worker that answers in time. */
  async ask(workers: readonly ((message: MetricsRequest) => void)[]): Promise<MetricsSnapshot[]> {
    const asked = workers.map((tell) => this.askOne(tell))
    return (await Promise.all(asked)).filter((each) => each !== undefined)
  }

  hear({ request, metrics }: MetricsResponse): void {
    this.waiting.get(request)?.(metrics)
  }

  private askOne(tell: (message: MetricsRequest) => void): Promise<MetricsSnapshot | undefined> {
    const request = ++this.requests
    return new Promise<MetricsSnapshot | undefined>((resolve) => {
      const timer = setTimeout(() => done(undefined), patienceMs)
      const done = (answer: MetricsSnapshot | undefined) => {
        clearTimeout(timer)
        this.waiting.delete(request)
        resolve(answer)
      }
      this.waiting.set(request, done)
      tell({ kind: 'metrics-request', request })
    })
  }
}

import { DomainError } from '../../contract/domain-error.ts'
import type { JobQueue } from './queue.ts'

/**
 * Sends jobs to the queue of the process. Modules are created before the queue, because it runs their jobs; a command
 * has no queue.
 */
export class JobSender {
  #queue: Pick<JobQueue, 'send'> | undefined

  connect(queue: Pick<JobQueue, 'send'>): void {
    this.#queue = queue
  }

  /** Sends a job. Throws `hub-unavailable` if the queue cannot be reached. */
  async send(...job: Parameters<JobQueue['send']>): Promise<void> {
    if (!this.#queue) {
      throw new DomainError('hub-unavailable', 'Background work has not started yet. Try again shortly.', {
        retryAfterSeconds: 2,
      })
    }
    await this.#queue.send(...job)
  }
}

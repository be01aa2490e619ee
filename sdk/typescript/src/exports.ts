import { HubError } from './hub-error.ts'
import { Pages } from './pages.ts'
import type { ReadOptions } from './records.ts'
import { pause } from './retry.ts'
import type { Transport } from './transport.ts'
import type { ExportJob, ExportPage, NewExport, StartedExport } from './types.ts'

const exportsPath = '/api/v1/hub/exports'
const pollMsMin = 500
const pollMsMax = 10_000

/** Thrown if an export ended without a file. */
export class ExportFailed extends Error {
  override readonly name: string = 'ExportFailed'
  /** The export as the Hub returned it last. */
  readonly job: ExportJob

  constructor(job: ExportJob) {
    super(`The export ${job.job_id} is ${job.status}`)
    this.job = job
  }
}

/** Exports records to files. */
export class Exports {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Starts an export. */
  start(request: NonNullable<NewExport> = {}, options: ReadOptions = {}): Promise<StartedExport> {
    return this.#transport.json('POST', '/api/v1/hub/records:export', { body: request, ...options })
  }

  /** Returns the state of an export. Throws HubError `not-found`. */
  get(jobId: string, options: ReadOptions = {}): Promise<ExportJob> {
    return this.#transport.json('GET', pathOf(jobId), options)
  }

  /** Returns the exports of the tenant, newest first. */
  list(query: { limit?: number } = {}, options: ReadOptions = {}): Pages<ExportJob, ExportPage> {
    return new Pages(
      (cursor) => this.#transport.json<ExportPage>('GET', exportsPath, { query: { ...query, cursor }, ...options }),
      (page) => page.items,
    )
  }

  /** Cancels an export that is queued or running. */
  cancel(jobId: string, options: ReadOptions = {}): Promise<ExportJob> {
    return this.#transport.json('POST', `${pathOf(jobId)}:cancel`, { idempotent: true, ...options })
  }

  /**
   * Polls until an export is completed. `onProgress` receives each state. Throws {@link ExportFailed} if it ended
   * otherwise.
   */
  async completed(
    jobId: string,
    { onProgress, ...options }: ReadOptions & { onProgress?: (job: ExportJob) => void } = {},
  ): Promise<ExportJob> {
    for (let waitMs = pollMsMin; ; waitMs = Math.min(waitMs * 1.5, pollMsMax)) {
      const job = await this.get(jobId, options)
      onProgress?.(job)
      if (job.status === 'completed') return job
      if (job.status !== 'queued' && job.status !== 'running') throw new ExportFailed(job)
      await pause(waitMs, options.signal)
    }
  }

  /**
   * Returns the content of a completed export as a stream. The address expires 24 hours after completion.
   *
   * @throws {ExportFailed} if the job has no file
   */
  async download(job: string | ExportJob, options: ReadOptions = {}): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    const found = typeof job === 'string' ? await this.get(job, options) : job
    if (found.download_url === undefined) throw new ExportFailed(found)
    const response = await this.#transport.download(found.download_url, options)
    if (response.body === null) throw new HubError(response.status, { detail: 'The response has no content' })
    return response.body
  }
}

function pathOf(jobId: string): string {
  if (!/^exp_[A-Za-z0-9_-]{1,100}$/.test(jobId)) throw new TypeError('jobId must be the id of an export (exp_…)')
  return `${exportsPath}/${jobId}`
}

import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { backoff } from '../../contract/backoff.ts'
import { batchErrorsMax, batchEventsMax } from '../../contract/limits.ts'
import type { JsonValue } from '../../provenance/index.ts'
import { envelopeNames } from '../../server/modules/telemetry/telemetry-schemas.ts'
import { StartupError } from '../../server/startup-error.ts'
import { findBatch } from '../connector/batch-search.ts'
import { type Outcome, unlisted } from '../connector/hub-response.ts'
import { HubSession, keyTrustedMs, QueryFailed, type SessionCredentials } from '../connector/hub-session.ts'
import type { EventRejection, SpooledBatch } from '../connector/spool-batches.ts'
import { lockFile } from '../connector/spool-database.ts'
import { VerifiedFile } from '../verify/verified-file.ts'
import { type EventDefaults, type EventSource, eventSources } from './event-sources.ts'
import { type ImportState, readState, writeState } from './import-state.ts'
import { numberOf, type Place, placesOf } from './place.ts'
import { readRows } from './read-rows.ts'
import { type RejectedRow, rowToRetry } from './rejected-row.ts'

/** Bytes of the events of a request: a quarter of what the Hub takes. */
const batchBytesMax = 4 * 1024 * 1024
const attemptsMax = 8
const pauses = { first: 500, max: 30_000 }

export interface ImportOptions {
  from: string
  defaults: EventDefaults
  /** A person's decision about a batch without a known result that the Hub cannot decide. */
  uncertain?: 'stored' | 'missing' | undefined
}

export interface ImportResult {
  file: string
  /** Events of the file that are stored, by this run or an earlier one. */
  stored: number
  /** Those of them that this run stored. */
  stored_now: number
  rejected: number
  /** The file of rejected lines, if there are any. */
  rejected_file: string | null
}

/** Called with the part of the file that is imported, 0 to 1 (undefined for gzip), and the numbers until then. */
type Progress = (part: number | undefined, state: Readonly<ImportState>) => void

interface Batch {
  index: number
  events: { place: Place; text: string }[]
  rejected: RejectedRow[]
}

/**
 * Imports a file of telemetry. The same file, interrupted at any moment and imported again, is stored once: each request
 * has an idempotency key made from the hash of the file, its place and its events, and the progress is kept beside the
 * file.
 *
 * @throws StartupError if the import cannot go on; the same command continues it later
 */
export async function importFile(
  path: string,
  target: { baseUrl: string; tenant: string } & SessionCredentials,
  options: ImportOptions,
  onProgress: Progress,
): Promise<ImportResult> {
  const file = await VerifiedFile.open(path)
  const lock = lockFile(`${path}.import.lock`, {
    message: `Another command imports ${path}.`,
    fix: 'Wait until it has ended, or stop it.',
  })
  try {
    const fileHash = Buffer.from((await file.digest()).sha256).toString('hex')
    const begun = { hub: target.baseUrl, tenant: target.tenant, from: options.from, ...options.defaults }
    const statePath = `${path}.import.json`
    const state = await readState(statePath, fileHash, JSON.stringify(begun))
    const rejectedPath = `${path}.rejected.jsonl`
    const storedBefore = state.stored
    if (!state.finished) {
      const session = new HubSession({ ...target, hubUrl: target.baseUrl })
      const batches = new BatchImport(session, state, statePath, fileHash, options.uncertain)
      await importBatches(file, batches, { options, rejectedPath, onProgress: (part) => onProgress(part, state) })
      state.finished = true
      await writeState(statePath, state)
    }
    const { stored, rejected } = state
    const rejectedFile = rejected === 0 ? null : rejectedPath
    return { file: path, stored, stored_now: stored - storedBefore, rejected, rejected_file: rejectedFile }
  } finally {
    lock.release()
  }
}

async function importBatches(
  file: VerifiedFile,
  batches: BatchImport,
  run: { options: ImportOptions; rejectedPath: string; onProgress: (part: number | undefined) => void },
): Promise<void> {
  const { from, defaults } = run.options
  const rejected = await open(run.rejectedPath, 'a', 0o600)
  try {
    // Lines of a batch whose result the state does not have are written again.
    await rejected.truncate(batches.rejectedBytes)
    let readBytes = 0
    const read = (bytes: number) => {
      readBytes += bytes
    }
    for await (const batch of batchesOf(file, eventSources[from] as EventSource, defaults, read)) {
      if (batch.index < batches.next) continue
      await batches.run(batch, rejected)
      run.onProgress(file.isGzip ? undefined : Math.min(readBytes / file.sizeBytes, 1))
    }
  } finally {
    await rejected.close()
  }
}

/** Yields batches that are the same in each run: they depend on the file and the options only. */
async function* batchesOf(
  file: VerifiedFile,
  source: EventSource,
  defaults: EventDefaults,
  read: (bytes: number) => void,
): AsyncGenerator<Batch> {
  let batch: Batch = { index: 0, events: [], rejected: [] }
  let bytes = 0
  for await (const row of readRows(file, read)) {
    const toRetry = rowToRetry(row)
    const { place, ...content } = toRetry ?? row
    if ('reason' in content) batch.rejected.push({ ...place, ...content })
    else {
      // The event of a rejected row has the members of the API, regardless of the format that it came from.
      const sourceOfRow = toRetry ? eventSources.events! : source
      for (const event of sourceOfRow(content.members, defaults)) {
        const text = JSON.stringify(event)
        batch.events.push({ place, text })
        bytes += text.length
      }
    }
    while (batch.events.length >= batchEventsMax || batch.rejected.length >= batchEventsMax || bytes >= batchBytesMax) {
      const rest = batch.events.splice(batchEventsMax)
      yield batch
      batch = { index: batch.index + 1, events: rest, rejected: [] }
      bytes = rest.reduce((sum, { text }) => sum + text.length, 0)
    }
  }
  if (batch.events.length + batch.rejected.length > 0) yield batch
}

/** Sends batches, each until its result is known, and records the progress. */
class BatchImport {
  readonly #session: HubSession
  readonly #state: ImportState
  readonly #statePath: string
  readonly #fileHash: string
  readonly #uncertain: 'stored' | 'missing' | undefined

  constructor(
    session: HubSession,
    state: ImportState,
    statePath: string,
    fileHash: string,
    uncertain: 'stored' | 'missing' | undefined,
  ) {
    this.#session = session
    this.#state = state
    this.#statePath = statePath
    this.#fileHash = fileHash
    this.#uncertain = uncertain
  }

  /** The index of the next batch. */
  get next(): number {
    return this.#state.batches
  }

  get rejectedBytes(): number {
    return this.#state.rejected_bytes
  }

  async run(batch: Batch, rejectedFile: FileHandle): Promise<void> {
    const state = this.#state
    const rejections = batch.events.length === 0 ? new Map<number, EventRejection>() : await this.#deliver(batch)
    const refused = [...rejections].map(([index, { detail }]): RejectedRow => {
      const { place, text } = batch.events[index] as Batch['events'][number]
      return { ...place, reason: detail, event: JSON.parse(text) as JsonValue }
    })
    const rejected = [...batch.rejected, ...refused].sort((a, b) => numberOf(a) - numberOf(b))
    const lines = rejected.map((each) => `${JSON.stringify(each)}\n`).join('')
    await rejectedFile.appendFile(lines)
    await rejectedFile.datasync()
    state.batches = batch.index + 1
    state.stored += batch.events.length - refused.length
    state.rejected += rejected.length
    state.rejected_bytes += Buffer.byteLength(lines)
    state.uncertain = undefined
    await writeState(this.#statePath, state)
  }

  async #deliver(batch: Batch): Promise<ReadonlyMap<number, EventRejection>> {
    const rejections = await this.#untilTaken(batch.events, () => this.#sendOnce(batch))
    await this.#addReasons(batch, rejections)
    return rejections
  }

  async #sendOnce(batch: Batch): Promise<Outcome> {
    const uncertain = this.#state.uncertain
    if (uncertain && this.#isOld(uncertain.since_ms) && (await this.#isStored(batch))) {
      return { kind: 'taken', rejections: new Map() }
    }
    const request = this.#requestOf(batch)
    await this.#noteSending(request.key)
    const outcome = await this.#session.send(request)
    // The result stays uncertain if the response does not state it, and until the state has it.
    if (outcome.kind !== 'unknown' && outcome.kind !== 'taken') this.#state.uncertain = uncertain
    return outcome
  }

  async #noteSending(key: string): Promise<void> {
    const nowMs = this.#session.hubNowMs()
    const first = { key, client_id: this.#session.subject, since_ms: nowMs }
    this.#state.uncertain = { ...first, ...this.#state.uncertain, until_ms: nowMs }
    await writeState(this.#statePath, this.#state)
  }

  /**
   * Completes the reasons of rejected events: sends those without one again, as many at a time as a response explains. An
   * event that is stored now, because its skill was registered meanwhile, is no longer rejected.
   */
  async #addReasons({ index: id, events }: Batch, rejections: Map<number, EventRejection>): Promise<void> {
    const unexplained = [...rejections].filter(([, rejection]) => rejection === unlisted).map(([index]) => index)
    for (let from = 0; from < unexplained.length; from += batchErrorsMax) {
      const indexes = unexplained.slice(from, from + batchErrorsMax)
      const rows = indexes.map((index) => events[index] as Batch['events'][number])
      const texts = rows.map(({ text }) => text)
      const request = { id, key: this.#keyOf(id, texts), events: texts, attempts: 0, doubt: undefined }
      const answer = await this.#untilTaken(rows, async () => {
        await this.#noteSending(request.key)
        return this.#session.send(request)
      })
      for (const [at, index] of indexes.entries()) {
        const rejection = answer.get(at)
        if (rejection) rejections.set(index, rejection)
        else rejections.delete(index)
      }
    }
  }

  /** Repeats a request until the Hub answers for its events. Throws if that does not help. */
  async #untilTaken(events: Batch['events'], send: () => Promise<Outcome>): Promise<Map<number, EventRejection>> {
    let last: Outcome | undefined = await this.#session.signIn()
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      if (last !== undefined) await this.#pauseAfter(last, attempt)
      last = (await this.#session.signIn()) ?? (await send())
      if (last.kind === 'taken') return last.rejections
      if (last.kind === 'refused') {
        await writeState(this.#statePath, this.#state)
        throw refusedImport(last, events)
      }
    }
    await writeState(this.#statePath, this.#state)
    throw new StartupError(
      `The import stopped at ${placesOf(events)}: ${describe(last)}`,
      'Run the same command again to continue.',
    )
  }

  /** Throws at once for what a retry cannot help. */
  async #pauseAfter(outcome: Outcome, attempt: number): Promise<void> {
    if (outcome.kind === 'barred') {
      throw new StartupError(
        `The Hub refuses the import: ${outcome.message}`,
        'As a person with the role admin, run: hub login --scope "telemetry:read telemetry:write", and tick both. ' +
          'Otherwise check HUB_CLIENT_ID, HUB_CLIENT_SECRET, HUB_TENANT and the scope telemetry:write of the account. ' +
          'Then run the same command again.',
      )
    }
    const retryAfterMs = 'retryAfterMs' in outcome ? (outcome.retryAfterMs ?? 0) : 0
    await sleep(Math.max(backoff(attempt, pauses) * (0.5 + Math.random() / 2), retryAfterMs))
  }

  /** Returns whether the Hub may have forgotten the key of a batch that was sent at a time. */
  #isOld(sinceMs: number): boolean {
    return Math.abs(this.#session.hubNowMs() - sinceMs) > keyTrustedMs
  }

  /** Decides about a batch that was sent without an answer so long ago that its key protects it no more. */
  async #isStored(batch: Batch): Promise<boolean> {
    if (this.#uncertain !== undefined) return this.#uncertain === 'stored'
    const found = await this.#search(batch)
    if (found.kind !== 'undecided') return found.kind === 'there'
    throw new StartupError(
      `The events of ${placesOf(batch.events)} were sent more than a day ago without an answer, and may be stored: ${found.reason}.`,
      'Look for them in the Hub, then run the command again with --uncertain stored or --uncertain missing.',
    )
  }

  async #search(batch: Batch): ReturnType<typeof findBatch> {
    const request = this.#requestOf(batch)
    const events = request.events.map((text) => JSON.stringify(envelopeOf(JSON.parse(text))))
    try {
      return await findBatch(this.#session, { ...request, events })
    } catch (error) {
      const reason = error instanceof QueryFailed ? error.message : 'the Hub does not hold all of them'
      return { kind: 'undecided', reason }
    }
  }

  /**
   * Returns the request of a batch. Its key depends on the events, so that other options do not repeat it. A batch in
   * doubt keeps its key: if another version of this command makes other events of it, the Hub answers with a conflict.
   */
  #requestOf({ index, events: rows }: Batch): SpooledBatch {
    const { uncertain } = this.#state
    const events = rows.map(({ text }) => text)
    const key = uncertain?.key ?? this.#keyOf(index, events)
    const doubt = uncertain && {
      clientId: uncertain.client_id,
      sinceMs: uncertain.since_ms,
      untilMs: uncertain.until_ms,
    }
    return { id: index, key, events, attempts: 0, doubt }
  }

  #keyOf(index: number, events: readonly string[]): string {
    const hash = createHash('sha256').update(`import\0${this.#fileHash}\0${index}`)
    for (const text of events) hash.update(`\0${text}`)
    return `import-${hash.digest('hex')}`
  }
}

function envelopeOf(event: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(event).filter(([name]) => envelopeNames.has(name)))
}

function refusedImport(
  { problem, message }: Extract<Outcome, { kind: 'refused' }>,
  events: Batch['events'],
): StartupError {
  return new StartupError(
    `The Hub refuses the events of ${placesOf(events)}: ${message}`,
    remedies[problem.slug] ?? 'Correct them in a copy of the file, and import the copy.',
  )
}

const remedies: Readonly<Record<string, string>> = {
  'content-not-allowed': 'The tenant is of Mode C: import a copy of the file with --envelope-only.',
  'idempotency-conflict':
    'Another version of this command sent them without an answer. Continue with that version, or after 24 hours.',
}

function describe(outcome: Outcome | undefined): string {
  return outcome !== undefined && 'message' in outcome ? outcome.message : 'the Hub did not answer'
}

import { Pages } from './pages.ts'
import { newRequestId } from './request-id.ts'
import type { Transport } from './transport.ts'
import type {
  HubRecord,
  NewRecord,
  ProofBundle,
  PurgedRecord,
  RecordPage,
  RecordQuery,
  RelatedQuery,
  RelatedRecords,
  Verification,
  WrittenRecord,
} from './types.ts'

const records = '/api/v1/hub/records'

/** Options of a write. */
export interface WriteOptions {
  /**
   * Repeated writes with the same key return the first response, for 24 hours. Defaults to a fresh key for each call, so
   * that retries of the call write once. Pass your own to write once even if your program starts again.
   */
  idempotencyKey?: string
  /** Aborts the request and its retries. */
  signal?: AbortSignal
}

/** Options of a read. */
export interface ReadOptions {
  /** Aborts the request and its retries. */
  signal?: AbortSignal
}

/** Reads and writes records of the tenant. */
export class Records {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Returns the matching records, page by page as they are iterated. `cursor` in the query is where to start. */
  list(query: RecordQuery = {}, options: ReadOptions = {}): Pages<HubRecord, RecordPage> {
    return new Pages(
      (cursor) =>
        this.#transport.json<RecordPage>('GET', records, {
          query: { ...query, ...(cursor && { cursor }) },
          ...options,
        }),
      (page) => page.records,
    )
  }

  /** Returns a record. Throws HubError `not-found`. */
  get(recordId: string, options: ReadOptions & { verify?: boolean } = {}): Promise<HubRecord> {
    const { verify, ...rest } = options
    return this.#transport.json('GET', pathOf(recordId), { query: { verify }, ...rest })
  }

  /** Writes a record. */
  write(record: NewRecord, options: WriteOptions = {}): Promise<WrittenRecord> {
    return this.#transport.json('POST', records, { idempotencyKey: newRequestId(), ...options, body: record })
  }

  /** Asks the Hub to verify a record. `hub verify` checks its proof bundle without trust in the Hub. */
  verify(recordId: string, options: ReadOptions = {}): Promise<Verification> {
    return this.#transport.json('POST', `${pathOf(recordId)}/verify`, { idempotent: true, ...options })
  }

  /** Returns the record and those up to `depth` links away. */
  related(recordId: string, query: RelatedQuery = {}, options: ReadOptions = {}): Promise<RelatedRecords> {
    return this.#transport.json('GET', `${pathOf(recordId)}/related`, { query, ...options })
  }

  /** Purges a record. It can be restored for 30 days. */
  purge(recordId: string, reason: string, options: ReadOptions = {}): Promise<PurgedRecord> {
    return this.#transport.json('DELETE', pathOf(recordId), { query: { reason }, ...options })
  }

  /** Restores a purged record. */
  restore(recordId: string, options: ReadOptions = {}): Promise<{ record_id: string; is_purged: boolean }> {
    return this.#transport.json('POST', `${pathOf(recordId)}:restore`, { idempotent: true, ...options })
  }

  /** Returns all that proves a record offline; with `consistencyFrom`, also that the log continues a checkpoint of so many leaves. */
  proofBundle(recordId: string, options: ReadOptions & { consistencyFrom?: number } = {}): Promise<ProofBundle> {
    const { consistencyFrom, ...others } = options
    const query = { consistency_from: consistencyFrom }
    return this.#transport.json('GET', `${pathOf(recordId)}/proof-bundle`, { query, ...others })
  }
}

function pathOf(recordId: string): string {
  // An empty id would address the list, and a dot another resource.
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(recordId)) throw new TypeError('recordId must be a UUID')
  return `${records}/${recordId}`
}

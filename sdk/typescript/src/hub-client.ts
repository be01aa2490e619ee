import type { Credentials } from './access-token.ts'
import { Exports } from './exports.ts'
import { Pages } from './pages.ts'
import { type ReadOptions, Records } from './records.ts'
import type { BatcherOptions, BatcherStats } from './telemetry/batcher-options.ts'
import { Telemetry } from './telemetry/telemetry.ts'
import { type Query, type RequestOptions, Transport, type TransportOptions } from './transport.ts'
import type { ProvenanceKeys, SearchPage, SearchQuery, SearchResult, Suggestions, SuggestQuery } from './types.ts'

/** The address, the tenant, credentials, and how telemetry is sent. */
export type HubClientOptions = TransportOptions &
  Credentials & {
    /** How `telemetry.track` buffers and sends events. */
    telemetry?: BatcherOptions
  }

/**
 * Calls the Hub for a tenant, as a service account or with a token of the caller's own.
 *
 * Renews tokens before they expire. Retries requests that a rate limit refused, and those that can be repeated without
 * harm after other transient failures, as long as `Retry-After` says. Throws HubError for error responses, and
 * HubConnectionError if the Hub cannot be reached.
 */
export class HubClient {
  /** Reads and writes records. */
  readonly records: Records
  /** Exports records to files. */
  readonly exports: Exports
  /** Sends and reads telemetry. */
  readonly telemetry: Telemetry
  readonly #transport: Transport

  constructor(options: HubClientOptions) {
    this.#transport = new Transport(options)
    this.records = new Records(this.#transport)
    this.exports = new Exports(this.#transport)
    this.telemetry = new Telemetry(this.#transport, options.telemetry)
  }

  /** Searches the texts of records: words, "phrases", -excluded words and `or`. */
  search(q: string, query: Omit<SearchQuery, 'q'> = {}, options: ReadOptions = {}): Pages<SearchResult, SearchPage> {
    return new Pages(
      (cursor) => this.get<SearchPage>('/api/v1/hub/search', { q, ...query, ...(cursor && { cursor }) }, options),
      (page) => page.results,
    )
  }

  /** Returns up to 10 skills, people, archetypes, models or records whose name contains `q`. */
  suggest(q: string, query: Omit<SuggestQuery, 'q'> = {}, options: ReadOptions = {}): Promise<Suggestions> {
    return this.get('/api/v1/suggest', { q, ...query }, options)
  }

  /** Returns the public keys that records are verified with. */
  provenanceKeys(options: ReadOptions = {}): Promise<ProvenanceKeys> {
    return this.get('/.well-known/provenance-keys.json', {}, options)
  }

  /**
   * Calls an operation that has no method here. A POST without an idempotency key is retried only after a refusal by a
   * rate limit, unless it is `idempotent`.
   */
  request<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
    return this.#transport.json(method, path, options)
  }

  /** Sends GET, as {@link HubClient.request}. */
  get<T>(path: string, query: Query = {}, options: ReadOptions = {}): Promise<T> {
    return this.request('GET', path, { ...options, query })
  }

  /** Sends POST, as {@link HubClient.request}. */
  post<T>(path: string, options: RequestOptions = {}): Promise<T> {
    return this.request('POST', path, options)
  }

  /** Sends PUT, as {@link HubClient.request}. */
  put<T>(path: string, body: unknown): Promise<T> {
    return this.request('PUT', path, { body })
  }

  /** Sends PATCH, as {@link HubClient.request}. */
  patch<T>(path: string, body: unknown): Promise<T> {
    return this.request('PATCH', path, { body })
  }

  /** Sends DELETE. Returns undefined if the response has no body (204). */
  delete<T>(path: string): Promise<T> {
    return this.request('DELETE', path)
  }

  /** Sends any request to the Hub with a token, and again after a 401: a `fetch` for libraries. Retries nothing else. */
  fetch(address: string | URL, init?: RequestInit): Promise<Response> {
    return this.#transport.fetch(address, init)
  }

  /** Sends tracked events, and stops. */
  close(options?: { timeoutMs?: number }): Promise<BatcherStats> {
    return this.telemetry.close(options)
  }

  /** Closes the client at the end of an `await using` block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

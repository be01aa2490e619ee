/**
 * Signals missing external data inside a transaction. The caller rolls back, fetches and retries, so no connection
 * waits on the network.
 */
export class FetchRequiredError extends Error {
  /** Identifies the data among everything that the transaction may need. */
  readonly what: string
  readonly fetch: () => Promise<void>

  /** @param what completes "… has to be fetched" */
  constructor(what: string, fetch: () => Promise<void>) {
    super(`${what} must be fetched before the transaction`)
    this.what = what
    this.fetch = fetch
  }
}

/**
 * Records the fetches of one transaction. The transaction runs again while it progresses: once for each item it did not
 * request before, and a few times for items that have been evicted meanwhile.
 */
export class TransactionFetches {
  readonly #asked = new Set<string>()
  #repeats = 0

  /** Returns whether to fetch this and run the transaction again. */
  allows({ what }: FetchRequiredError): boolean {
    if (this.#asked.has(what)) this.#repeats += 1
    this.#asked.add(what)
    return this.#repeats <= repeatsMax
  }
}

const repeatsMax = 8

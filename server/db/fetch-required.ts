/**
 * Thrown inside a transaction for what has to be fetched from elsewhere first. The transaction is rolled back, so that
 * no connection waits; then it is fetched, and the transaction runs again.
 */
export class FetchRequiredError extends Error {
  /** Names it among all that the transaction may need. */
  readonly what: string
  readonly fetch: () => Promise<void>

  /** @param what completes "… has to be fetched" */
  constructor(what: string, fetch: () => Promise<void>) {
    super(`${what} has to be fetched before the transaction`)
    this.what = what
    this.fetch = fetch
  }
}

/**
 * What one transaction has had fetched. It runs again as long as it gets further: once for everything that it has not
 * asked for before, and a few times for what has gone again meanwhile.
 */
export class TransactionFetches {
  readonly #asked = new Set<string>()
  #repeats = 0

  /** Whether the transaction is to run again, and then after fetching it. */
  allows({ what }: FetchRequiredError): boolean {
    if (this.#asked.has(what)) this.#repeats += 1
    this.#asked.add(what)
    return this.#repeats <= repeatsMax
  }
}

const repeatsMax = 8

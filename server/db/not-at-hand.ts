/**
 * Thrown inside a transaction for what has to be fetched from elsewhere first. The transaction is rolled back, so that
 * no connection waits; then it is fetched, and the transaction runs again.
 */
export class NotAtHand extends Error {
  readonly fetch: () => Promise<void>

  constructor(what: string, fetch: () => Promise<void>) {
    super(`${what} has to be fetched before the transaction`)
    this.fetch = fetch
  }
}

/** How often a transaction may run again for it: each time it gets further. */
export const fetchesMax = 8

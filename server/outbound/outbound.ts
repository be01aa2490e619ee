import type { Config } from '../config.ts'

/** The way out for every address that a tenant sets: one place (decisions section 7). */
export interface Outbound {
  /**
   * What is wrong with a URL before anything connects: scheme, userinfo, an address literal that is not public.
   * Undefined when nothing is.
   */
  problemOf(url: string): string | undefined
  /** `fetch` that connects to public or allowed addresses only, and takes a redirect for a failure. */
  fetch: typeof globalThis.fetch
  close(): Promise<void>
}

export function createOutbound(_config: Pick<Config, 'environment' | 'outboundAllow'>): Outbound {
  return { problemOf: () => undefined, fetch: globalThis.fetch, close: async () => {} }
}

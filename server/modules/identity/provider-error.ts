/**
 * Signals that an identity provider is unusable. The message names the fetched address and the problem, without secrets
 * or people.
 */
export class ProviderError extends Error {
  override readonly name = 'ProviderError'
}

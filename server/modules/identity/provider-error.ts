/**
 * Why an identity provider cannot be used as it is. The message says what was fetched and what was wrong with it; it
 * carries no secret and no person.
 */
export class ProviderError extends Error {
  override readonly name = 'ProviderProblem'
}

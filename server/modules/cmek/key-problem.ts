/** Why a provider of keys did not do what it was asked for. The message says it in words, and has no secrets. */
export class KeyProblem extends Error {
  /** It cannot be reached or is at fault, and may work again later; otherwise it says no. */
  readonly isAway: boolean

  constructor(message: string, options: { isAway: boolean; cause?: unknown }) {
    super(message, { cause: options.cause })
    this.isAway = options.isAway
  }
}

/** Nothing can be said of what was given, good or bad. `fix` tells what to do about it. */
export class InconclusiveError extends Error {
  override readonly name = 'CannotCheckError'
  readonly fix: string

  constructor(message: string, fix: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.fix = fix
  }
}

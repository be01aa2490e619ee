/** Signals that the input can be neither verified nor refuted. `fix` states what to do. */
export class InconclusiveError extends Error {
  override readonly name = 'InconclusiveError'
  readonly fix: string

  constructor(message: string, fix: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.fix = fix
  }
}

import { StartupError } from '../../server/startup-error.ts'

/** Thrown if a command has no valid login. */
export class NotSignedInError extends StartupError {
  override readonly name = 'NotSignedInError'

  constructor(message: string, fix = 'Run: hub login', options: { cause?: unknown } = {}) {
    super(message, fix, options)
  }
}

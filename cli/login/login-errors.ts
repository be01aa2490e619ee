import { StartupError } from '../../server/startup-error.ts'

/** Thrown if a command has no valid login. */
export class NotSignedInError extends StartupError {
  override readonly name: string = 'NotSignedInError'

  constructor(message: string, fix = 'Run: hub login', options: { cause?: unknown } = {}) {
    super(message, fix, options)
  }
}

/** Thrown if the Hub says that a login has ended (`invalid_grant`, RFC 6749, section 5.2). */
export class LoginEndedError extends NotSignedInError {
  override readonly name = 'LoginEndedError'
}

/** Thrown if a login is not renewed, by a response that does not say that it has ended: that of a proxy, for example. */
export class RenewalRejectedError extends NotSignedInError {
  override readonly name = 'RenewalRejectedError'
}

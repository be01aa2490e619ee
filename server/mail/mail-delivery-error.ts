/**
 * A message that the mail server did not take. It says with which codes, and not in the server's words: those often
 * repeat the recipient, and errors are logged and stored with jobs.
 */
export class MailDeliveryError extends Error {
  override readonly name = 'MailNotSent'
  /** The server will never take it (a 5xx reply about the recipient or the message), so trying again is of no use. */
  readonly permanent: boolean

  constructor(why: string, options: { permanent: boolean }) {
    super(`Mail was not sent: ${why}.`)
    this.permanent = options.permanent
  }

  static because(error: unknown): MailDeliveryError {
    const { code, responseCode, command } = error as { code?: unknown; responseCode?: unknown; command?: unknown }
    const words = [code, command, responseCode].filter((word) => /^[A-Z0-9 _-]{1,40}$/.test(String(word ?? '')))
    // 5xx to a login or a greeting is about the configuration, which an operator may mend meanwhile.
    const isAboutMessage = code === 'EENVELOPE' || code === 'EMESSAGE'
    return new MailDeliveryError(words.length > 0 ? words.join(', ') : 'the connection failed', {
      permanent: isAboutMessage && Number(responseCode) >= 500,
    })
  }
}

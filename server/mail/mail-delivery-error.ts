/**
 * A message that the mail server did not accept. It names the codes, not the server's text: that text often repeats the
 * recipient, and errors are logged and stored with jobs.
 */
export class MailDeliveryError extends Error {
  override readonly name = 'MailDeliveryError'
  /**
   * Whether the server will never accept it (a 5xx reply about the recipient or the message), so a retry is useless.
   */
  readonly permanent: boolean

  constructor(why: string, options: { permanent: boolean }) {
    super(`Mail was not sent: ${why}.`)
    this.permanent = options.permanent
  }

  static because(error: unknown): MailDeliveryError {
    const { code, responseCode, command } = error as { code?: unknown; responseCode?: unknown; command?: unknown }
    const words = [code, command, responseCode].filter((word) => /^[A-Z0-9 _-]{1,40}$/.test(String(word ?? '')))
    // A 5xx reply to a login or a greeting concerns the configuration, which an operator may correct.
    const isAboutMessage = code === 'EENVELOPE' || code === 'EMESSAGE'
    return new MailDeliveryError(words.length > 0 ? words.join(', ') : 'the connection failed', {
      permanent: isAboutMessage && Number(responseCode) >= 500,
    })
  }
}

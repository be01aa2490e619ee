import type { Config } from '../config.ts'
import type { DatabaseLog } from '../db/database.ts'

/** One message, in plain text and in HTML with the same content. */
export interface Mail {
  to: string
  subject: string
  text: string
  html: string
}

export interface Mailer {
  /** Whether mail can reach anybody: by SMTP, or in development on the console. */
  readonly available: boolean
  /** Throws when the server does not take the message. */
  send(mail: Mail): Promise<void>
  close(): void
}

export function createMailer(_config: Pick<Config, 'environment' | 'smtpUrl'>, _log: DatabaseLog): Mailer {
  return { available: false, send: async () => {}, close: () => {} }
}

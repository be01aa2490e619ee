import type { DatabaseLog } from '../db/database.ts'
import { type Mail, MailDeliveryError, type Mailer } from './mailer.ts'

/**
 * Options of a job that sends one mail. A server that greylists accepts a message after some minutes (RFC 6647, section
 * 2.4), so retries go on for two hours.
 */
export const mailJobOptions = { retryLimit: 8, retryDelaySeconds: 30, atOnce: 5 }

/**
 * Sends the mail of a job. It logs a message that the server will never accept, so that the job is not retried.
 *
 * @param rejected the details and the text of that log line
 * @throws MailDeliveryError if a retry may succeed
 */
export async function sendMailOfJob(
  { mailer, log }: { mailer: Pick<Mailer, 'send'>; log: Pick<DatabaseLog, 'warn'> },
  mail: Mail,
  ...[details, text]: [details: object, text: string]
): Promise<void> {
  await mailer.send(mail).catch((error: unknown) => {
    if (!(error instanceof MailDeliveryError && error.permanent)) throw error
    log.warn({ ...details, err: error }, text)
  })
}

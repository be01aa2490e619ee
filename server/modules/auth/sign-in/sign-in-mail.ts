import { mailPage } from '../../../http/mail-page.ts'
import { html } from '../../../http/page.ts'
import type { Mail } from '../../../mail/mailer.ts'

/** Composes a message with an address to sign in at: the same words as text and as HTML. */
export function signInMail(
  words: Pick<Mail, 'to' | 'subject' | 'consoleLine'> & {
    tenant: string
    url: string
    /** Why the person gets the message. */
    fact: string
    /** How the address works. */
    rule: string
    /** Tells people who did not expect it what to do. */
    otherwise: string
  },
): Mail {
  const { to, subject, consoleLine, tenant, url, fact, rule, otherwise } = words
  return {
    ...{ to, subject, consoleLine },
    text: `${fact}\n\nSign in to ${tenant}:\n${url}\n\n${rule}\n\n${otherwise}\n`,
    html: mailPage(subject, [
      html`${fact}`,
      html`<strong><a href="${url}">Sign in to ${tenant}</a></strong>`,
      html`Or copy this address into your browser:<br><a class="address" href="${url}">${url}</a>`,
      html`${rule}`,
      html`${otherwise}`,
    ]),
  }
}

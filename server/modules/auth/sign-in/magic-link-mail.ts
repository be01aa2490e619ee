import type { Tenant } from '../../../http/caller.ts'
import type { Mail } from '../../../mail/mailer.ts'
import type { IssuedLink } from '../../links/links-types.ts'
import { readableTime } from './magic-link-pages.ts'
import { signInMail } from './sign-in-mail.ts'

/** Composes the message with a sign-in link that somebody requested. */
export function magicLinkMail(to: string, { slug, baseUrl }: Tenant, { url, expiresAt }: IssuedLink): Mail {
  return signInMail({
    ...{ to, url, tenant: slug },
    subject: `Sign in to ${slug}`,
    fact: `A sign-in link was requested for ${slug} at ${baseUrl}.`,
    rule: `The link works once, until ${readableTime(expiresAt)}. It opens a page with a button that signs you in.`,
    otherwise:
      'If you did not request it, ignore this message. Do not share the link: anyone who has it can sign in as you.',
    consoleLine: `Sign-in link for ${to} (${slug}): ${url}`,
  })
}

import type { Tenant } from '../../../http/caller.ts'
import type { Mail } from '../../../mail/mailer.ts'
import { readableTime } from '../sign-in/magic-link-pages.ts'
import { signInMail } from '../sign-in/sign-in-mail.ts'

/** The address of an invitation; it expires unless it is the sign-in page. */
export interface InvitationLink {
  url: string
  /** RFC 3339, UTC. */
  expiresAt?: string
}

/** Composes the message of an invitation. */
export function invitationMail(to: string, { slug, baseUrl }: Tenant, { url, expiresAt }: InvitationLink): Mail {
  const ignore = 'If you do not know the sender, ignore this message.'
  return signInMail({
    ...{ to, url, tenant: slug },
    subject: `Invitation to ${slug}`,
    fact: `An administrator of ${slug} invited you to its Org-Memory Hub at ${baseUrl}.`,
    ...(expiresAt === undefined
      ? { rule: 'Sign in there with the account of your company.', otherwise: ignore }
      : {
          rule: `The link works once, until ${readableTime(expiresAt)}. It opens a page with a button that signs you in.`,
          otherwise: `${ignore} Do not share the link: anyone who has it can sign in as you.`,
        }),
    consoleLine: `Invitation of ${to} (${slug}): ${url}`,
  })
}

import type { Tenant } from '../../../http/caller.ts'
import { html } from '../../../http/page.ts'
import type { Mail } from '../../../mail/mailer.ts'
import { readableTime } from '../sign-in/magic-link-pages.ts'

/** The address of an invitation; it expires unless it is the sign-in page. */
export interface InvitationLink {
  url: string
  /** RFC 3339, UTC. */
  expiresAt?: string
}

/** Composes the message of an invitation: the same words as text and as HTML. */
export function invitationMail(to: string, { slug, baseUrl }: Tenant, { url, expiresAt }: InvitationLink): Mail {
  const subject = `Invitation to ${slug}`
  const fact = `An administrator of ${slug} invited you to its Org-Memory Hub at ${baseUrl}.`
  const rule =
    expiresAt === undefined
      ? 'Sign in there with the account of your company.'
      : `The link works once, until ${readableTime(expiresAt)}. It opens a page with a button that signs you in.`
  const otherwise =
    expiresAt === undefined
      ? 'If you do not know the sender, ignore this message.'
      : 'If you do not know the sender, ignore this message. Do not share the link: anyone who has it can sign in as you.'
  const body = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${subject}</title>
</head>
<body>
<p>${fact}</p>
<p><strong><a href="${url}">Sign in to ${slug}</a></strong></p>
<p>Or copy this address into your browser:<br><a href="${url}">${url}</a></p>
<p>${rule}</p>
<p>${otherwise}</p>
</body>
</html>
`
  return {
    to,
    subject,
    text: `${fact}\n\nSign in to ${slug}:\n${url}\n\n${rule}\n\n${otherwise}\n`,
    html: body.text,
    consoleLine: `Invitation of ${to} (${slug}): ${url}`,
  }
}

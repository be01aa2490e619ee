import type { Tenant } from '../../../http/caller.ts'
import { Html, html } from '../../../http/page.ts'
import type { Mail } from '../../../mail/mailer.ts'
import type { IssuedLink } from '../../links/links-types.ts'
import { readableTime } from './magic-link-pages.ts'

/** Colours with a contrast of at least 7:1 in both schemes. Programs that drop style sheets show black on white. */
const style = `
:root { color-scheme: light dark }
body { margin: 0; padding: 24px; background: #ffffff; color: #1c2024; font: 16px/1.6 sans-serif }
a { color: #084a8f } p { margin: 0 0 16px; max-width: 36em } .address { word-break: break-all }
@media (prefers-color-scheme: dark) { body { background: #15181b; color: #e8eaed } a { color: #9cc9ff } }
`

/** Composes the message with a sign-in link: the same words as text and as HTML, without images or external content. */
export function magicLinkMail(to: string, tenant: Tenant, link: IssuedLink): Mail {
  const { slug, baseUrl } = tenant
  const subject = `Sign in to ${slug}`
  const asked = `A sign-in link was requested for ${slug} at ${baseUrl}.`
  const until = `The link works once, until ${readableTime(link.expiresAt)}. It opens a page with a button that signs you in.`
  const otherwise =
    'If you did not request it, ignore this message. Do not share the link: anyone who has it can sign in as you.'
  const body = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${subject}</title>
<style>${new Html(style)}</style>
</head>
<body>
<p>${asked}</p>
<p><strong><a href="${link.url}">Sign in to ${slug}</a></strong></p>
<p>Or copy this address into your browser:<br><a class="address" href="${link.url}">${link.url}</a></p>
<p>${until}</p>
<p>${otherwise}</p>
</body>
</html>
`
  return {
    to,
    subject,
    text: `${asked}\n\nSign in to ${slug}:\n${link.url}\n\n${until}\n\n${otherwise}\n`,
    html: body.text,
    consoleLine: `Sign-in link for ${to} (${slug}): ${link.url}`,
  }
}

import type { Tenant } from '../../../http/caller.ts'
import { type Html, html } from '../../../http/page.ts'
import type { OpenLink } from '../../links/links-types.ts'
import { readableTime } from './magic-link-times.ts'

export interface LinkPage {
  title: string
  body: Html
  status?: number
  hasForm?: boolean
}

/** Renders the page of a mailed link: its tenant, its address and the button that consumes it. */
export function signInLinkPage(tenant: Tenant, link: OpenLink): LinkPage {
  const body = html`<h1>Sign in to ${tenant.slug}</h1>
<p>This link signs you in to the Org-Memory Hub of <strong>${tenant.slug}</strong>
as <strong>${link.email}</strong>.</p>
${signInForm('Sign in')}
<p class="soft">The link is good once, until ${readableTime(link.expiresAt)}. If you did not ask for it, close this
page.</p>`
  return { title: `Sign in to ${tenant.slug}`, body, hasForm: true }
}

/**
 * Renders a form that posts to the page's own address. Opening a page, as mail scanners do, does not consume the link.
 */
export function signInForm(button: string): Html {
  return html`<form method="post"><button id="sign-in" type="submit">${button}</button></form>`
}

/** Renders the same page for every link that does not open, so that it does not reveal which tenants exist. */
export function closedLinkPage(): LinkPage {
  const body = html`<h1>This link does not open</h1>
<p>It has expired, was used already, or was not copied whole. Links are good once, for 24 hours.</p>
<p>If you have just used it in this browser, <a href="/session">you may be signed in already</a>. Otherwise,
<a href="/sign-in">sign in another way</a>, or have a new link sent there.</p>
<h2>Was it a welcome link?</h2>
<p>An operator of the Hub makes another one with:</p>
<pre tabindex="0">npm run hub -- tenant welcome-link TENANT</pre>`
  return { title: 'This link does not open', body, status: 404 }
}

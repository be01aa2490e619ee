import { readFileSync } from 'node:fs'
import type { Tenant } from '../../../http/caller.ts'
import { type Html, html, type Page, PageScript } from '../../../http/page.ts'
import type { OpenLink } from '../../links/links-types.ts'

const script = new PageScript(readFileSync(new URL('./link-page-script.js', import.meta.url), 'utf8'))

/** Renders the page of a mailed link: its tenant, its address and the button that consumes it. */
export function signInLinkPage(tenant: Tenant, link: OpenLink): Page {
  const body = html`<h1>Sign in to ${tenant.slug}</h1>
<p>This link signs you in to the Org-Memory Hub of <strong>${tenant.slug}</strong>
as <strong>${link.email}</strong>.</p>
${signInForm('Sign in')}
<p class="soft">The link is good once, until ${readableTime(link.expiresAt)}. If you did not ask for it, close this
page.</p>`
  return { title: `Sign in to ${tenant.slug}`, body, hasForm: true, script }
}

/** Renders the page of an invitation: its tenant, its address and the button that opens the first session. */
export function invitationPage(tenant: Tenant, link: OpenLink): Page {
  const body = html`<h1>Welcome to ${tenant.slug}</h1>
<p>You are invited to the Org-Memory Hub of <strong>${tenant.slug}</strong> as <strong>${link.email}</strong>.</p>
${signInForm('Sign in')}
<p class="soft">This invitation works once, until ${readableTime(link.expiresAt)}. Later, sign in at
<a href="/sign-in?tenant=${tenant.slug}">the sign-in page</a>. If this is not your address, close this page.</p>`
  return { title: `Welcome to ${tenant.slug}`, body, hasForm: true, script }
}

/**
 * Renders a form that posts to the page's own address. Opening a page, as mail scanners do, does not consume the link.
 */
export function signInForm(button: string): Html {
  return html`<form method="post"><button id="sign-in" type="submit">${button}</button></form>`
}

/** Renders the same page for every link that does not open, so that it does not reveal which tenants exist. */
export function closedLinkPage(): Page {
  const body = html`<h1>This link does not open</h1>
<p>It has expired, was used already, or was not copied whole. Links are good once, for 24 hours.</p>
<p>If you have just used it in this browser, <a href="/session">you may be signed in already</a>. Otherwise,
<a href="/sign-in">sign in another way</a>, or have a new link sent there.</p>
<h2>Was it an invitation?</h2>
<p>An invitation opens only the first session of a person, and a later invitation replaces it. An administrator of your
organisation can invite you again.</p>
<h2>Was it a welcome link?</h2>
<p>An operator of the Hub makes another one with:</p>
<pre tabindex="0">npm run hub -- tenant welcome-link TENANT</pre>`
  return { title: 'This link does not open', body, status: 404 }
}

/** Formats an RFC 3339 timestamp in UTC as `2026-01-05 09:30 UTC`. */
export function readableTime(timestamp: string): string {
  return `${timestamp.slice(0, 16).replace('T', ' ')} UTC`
}

/** Renders the page of a welcome link: the tenant, the button that signs its administrator in, and the first steps. */
export function welcomePage(tenant: Tenant, link: OpenLink): Page {
  const create = [
    `npm run hub -- service-account create --tenant ${tenant.slug} --name my-app \\`,
    '  --scope "hub:read hub:write telemetry:read telemetry:write"',
  ].join('\n')
  const token = [
    'curl -u CLIENT_ID:CLIENT_SECRET -d grant_type=client_credentials \\',
    `  ${tenant.baseUrl}/api/v1/oauth/token`,
  ].join('\n')
  const query = [
    'curl -H "Authorization: Bearer ACCESS_TOKEN" \\',
    `  -H "X-Service-Tenant: ${tenant.slug}" ${tenant.baseUrl}/api/v1/hub/records`,
  ].join('\n')
  const body = html`<h1>Welcome to ${tenant.slug}</h1>
<p>This is the Org-Memory Hub of the tenant <strong>${tenant.slug}</strong>, in Mode ${tenant.mode},
at <a href="${tenant.baseUrl}/">${tenant.baseUrl}</a>.
This link signs you in as its administrator, <strong>${link.email}</strong>.</p>
${signInForm('Sign in as administrator')}
<p class="soft">This link works once, and is valid until ${readableTime(link.expiresAt)}. To create another one:
<code>npm run hub -- tenant welcome-link ${tenant.slug}</code></p>
<h2>Make a service account</h2>
<p>On the machine that runs the Hub, in its folder. The secret is shown once.</p>
<pre tabindex="0">${create}</pre>
<h2>Get a token</h2>
<pre tabindex="0">${token}</pre>
<h2>Ask for records</h2>
<pre tabindex="0">${query}</pre>
<p>Telemetry events name an archetype and a skill. Register both first:
<code>npm run hub -- archetypes set --tenant ${tenant.slug} analyst</code>, and a
<code>skill_definition</code> record. The <a href="${tenant.baseUrl}/reference">API reference</a> has the rest.</p>
${demoPart(tenant)}`
  return { title: `Welcome to ${tenant.slug}`, body, hasForm: true, script }
}

/**
 * Renders the part about demo data. The demo writes content, so it needs Mode A. Without `--tenant` it loads into the
 * tenant `demo`.
 */
function demoPart({ slug, mode }: Tenant): Html {
  if (mode !== 'A') return html``
  return html`<h2>Load demo data</h2>
<p>The demo shows 30 days of an invented company, with the token counts of 19,366 recorded invocations.</p>
<pre tabindex="0">npm run hub -- demo${slug === 'demo' ? '' : ` --tenant ${slug}`}</pre>`
}

import type { Tenant } from '../../../http/caller.ts'
import { type Html, html } from '../../../http/page.ts'

export interface WelcomePage {
  title: string
  body: Html
  status?: number
}

/** What a welcome link opens: the tenant, and what to do first with it. */
export function welcomePage(tenant: Tenant, expiresAt: string): WelcomePage {
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
at <a href="${tenant.baseUrl}/">${tenant.baseUrl}</a>.</p>
<h2>Make a service account</h2>
<p>On the machine that runs the Hub, in its folder. The secret is shown once.</p>
<pre>${create}</pre>
<h2>Get a token</h2>
<pre>${token}</pre>
<h2>Ask for records</h2>
<pre>${query}</pre>
<p>Telemetry names an archetype and a skill, so it is taken once the tenant has them:
<code>npm run hub -- archetypes set --tenant ${tenant.slug} analyst</code>, and a
<code>skill_definition</code> record. The <a href="${tenant.baseUrl}/reference">API reference</a> has the rest.</p>
${demoPart(tenant)}
<p class="soft">This link is good until ${readable(expiresAt)}. For another one:
<code>npm run hub -- tenant welcome-link ${tenant.slug}</code></p>`
  return { title: `Welcome to ${tenant.slug}`, body }
}

/** The demo writes content, so it is for Mode A; by itself it fills the tenant of its name. */
function demoPart({ slug, mode }: Tenant): Html {
  if (mode !== 'A') return html``
  return html`<h2>Fill it with real data</h2>
<p>The demo replays a public trace of 19,366 language-model invocations.</p>
<pre>npm run hub -- demo${slug === 'demo' ? '' : ` --tenant ${slug}`}</pre>`
}

/** The same for every link that does not open, so that nobody learns which tenants exist. */
export function closedLinkPage(): WelcomePage {
  const body = html`<h1>This link does not open</h1>
<p>It has expired, was used already, or was not copied whole. Welcome links are good for 24 hours.</p>
<p>An operator of the Hub makes another one with:</p>
<pre>npm run hub -- tenant welcome-link TENANT</pre>`
  return { title: 'This link does not open', body, status: 404 }
}

/** `2026-01-05 09:30 UTC` */
function readable(timestamp: string): string {
  return `${timestamp.slice(0, 16).replace('T', ' ')} UTC`
}

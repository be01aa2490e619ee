import { readFileSync } from 'node:fs'
import { patterns } from '../../../../contract/literals.ts'
import { type Html, html, PageScript } from '../../../http/page.ts'

const script = new PageScript(readFileSync(new URL('./sign-in-page-script.js', import.meta.url), 'utf8'))

/** The parameters of the page. */
interface Asked {
  /** The tenant from the address or from `?tenant=`; empty if neither names one. */
  tenant: string
  /** True if the host serves only that tenant. */
  tenantIsFixed: boolean
  mockLogin: boolean
  /** The path to land at, from `?return_to=`. */
  returnTo: string
  /** The address to land at, which may be at another host. */
  landing: string
}

/** Renders the page `/sign-in`: by identity provider, by a mailed link, and outside production as anyone. */
export function signInPage({ tenant, tenantIsFixed, mockLogin, returnTo, landing }: Asked) {
  const body = html`<h1>Sign in to the Org-Memory Hub</h1>
<noscript><p class="notice">This page needs JavaScript.</p></noscript>
<p id="cookie-notice" class="notice" role="status" hidden>This browser does not keep Secure cookies from this address,
so you would not stay signed in. Over plain http on your own machine, use Chrome, Edge or Firefox; elsewhere, reach the
Hub by https and allow its cookies.</p>
<form id="company-form">
<label for="tenant">Tenant</label>
<p id="tenant-hint" class="soft">The short name of your organisation, such as <code>acme</code>, for every way to sign in.</p>
<input id="tenant" name="tenant" type="text" aria-describedby="tenant-hint" required pattern="${inputPattern(patterns.tenantSlug)}" maxlength="63"
title="A name such as acme: lower-case letters, digits and hyphens" autocomplete="organization" autocapitalize="none"
spellcheck="false" list="known-tenants" value="${tenant}"${tenantIsFixed ? html` readonly` : html``}>
<datalist id="known-tenants"></datalist>
<input type="hidden" id="return-to" value="${returnTo}">
<input type="hidden" id="landing" value="${landing}">
<button id="company" type="submit">Continue with your company</button>
<p id="company-result" role="status"></p>
</form>
<h2>By a link</h2>
<form id="link-form">
${emailField('link-email')}
<button id="send-link" type="submit" class="plain">Send me a link</button>
<p id="link-result" role="status"></p>
</form>
${mockLogin ? mockForm() : html``}
<p class="soft links"><a href="/session">Your session</a> · <a href="/reference">API reference</a></p>`
  return { title: 'Sign in', body, script, layout: 'card' as const }
}

function mockForm(): Html {
  return html`<h2>Mock sign-in</h2>
<p class="soft">For development: signs in as anyone, without credentials. Not available in production.</p>
<form id="mock-form">
${emailField('mock-email')}
<button id="mock-sign-in" type="submit" class="plain">Mock sign-in</button>
<p id="mock-result" role="status"></p>
</form>`
}

/**
 * Renders an address field of type text: fields of type email rewrite domains with non-ASCII letters, and reject such
 * names.
 */
function emailField(id: string): Html {
  return html`<label for="${id}">E-mail address</label>
<input id="${id}" name="email" type="text" inputmode="email" required pattern="[^@\\s]+@[^@\\s]+" maxlength="254"
title="An e-mail address" autocomplete="email" autocapitalize="none" spellcheck="false">`
}

/**
 * Returns a pattern for an input element. Browsers match the whole value and read it with the flag v, which requires an
 * escaped hyphen in a class.
 */
function inputPattern(pattern: string): string {
  return pattern.replace(/^\^|\$$/g, '').replaceAll('-]', '\\-]')
}

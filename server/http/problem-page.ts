import type { DomainError } from '../../contract/domain-error.ts'
import { acceptedTypes } from './accept-header.ts'
import { html, type Page } from './page.ts'
import type { ProblemDocument } from './problem-document.ts'
import type { ErrorPageHints } from './route-schema.ts'

/** Renders a problem for people: its cause, its fix, and the request id for an administrator. */
export function problemPage(error: DomainError, document: ProblemDocument, hints?: ErrorPageHints): Page {
  const { status, detail, type, instance } = document
  const { title = document.title, next } = hints ?? {}
  const places = error.errors && error.errors.length > 1 ? error.errors : []
  const body = html`<h1>${title}</h1>
<p>${detail}</p>
${places.map((place) => html`<p>${place.pointer} ${place.detail}</p>`)}
${next ? html`<p><a href="${next.path}">${next.text}</a></p>` : html``}
<p class="soft"><a href="${type}">What this error means</a>. If it stays, tell your administrator
the request id <code>${instance}</code>.</p>`
  return { title, body, status, noStore: true }
}

/** Returns whether an Accept header prefers HTML to JSON (RFC 9110, section 12.5.1). */
export function prefersHtml(accept: string | undefined): boolean {
  const weights = acceptedTypes(accept)
  const json = Math.max(weights.get('application/json') ?? 0, weights.get('application/problem+json') ?? 0)
  return (weights.get('text/html') ?? 0) > json
}

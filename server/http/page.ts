import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { bodyBounds } from '../../contract/limits.ts'
import { pageHeaders } from './security-headers.ts'

/** Markup that is safe to send. Only {@link html} makes it. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Part = string | number | Html | readonly Html[]

/** Builds markup from a template. It escapes values, except those that are markup themselves. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  const texts = parts.map((part) => {
    if (part instanceof Html) return part.text
    if (Array.isArray(part)) return part.map((each: Html) => each.text).join('')
    return escapeText(String(part))
  })
  return new Html(String.raw({ raw: strings }, ...texts))
}

function escapeText(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] as string)
}

/** The style sheet. Its colours are those of the web UI; every pair has a contrast of at least 4.5:1. */
const style = `
:root { color-scheme: light dark; --text: #1c2024; --soft: #56606b; --page: #f8f9fa; --back: #fff; --line: #dfe3e8;
  --link: #0f766e }
@media (prefers-color-scheme: dark) {
  :root { --text: #e8eaed; --soft: #a3acb5; --page: #15181b; --back: #1c2024; --line: #343b42; --link: #2dd4bf }
}
body { margin: 0 auto; max-width: 44rem; padding: 1.5rem 1.25rem 3rem; background: var(--page); color: var(--text);
  font: 1rem/1.6 Inter, system-ui, -apple-system, "Segoe UI", Roboto, sans-serif }
header { margin-bottom: 2rem } .brand { display: inline-flex; align-items: center; gap: .6rem; font-weight: 600;
  color: var(--text); text-decoration: none } .brand:hover { text-decoration: underline }
h1 { font-size: 1.5rem; line-height: 1.25 } h2 { font-size: 1.1rem; margin-top: 2rem }
.card { max-width: 27rem } .card main { padding: .5rem 1.5rem 1rem; background: var(--back);
  border: 1px solid var(--line); border-radius: .6rem } .card button { width: 100% }
.card h2 { margin: 1.5rem 0 0; padding-top: 1.2rem; border-top: 1px solid var(--line); font-size: 1rem }
.card header { text-align: center } .card .links { text-align: center }
a { color: var(--link) } .soft { color: var(--soft) }
code, pre { font: .9em/1.5 ui-monospace, monospace }
pre { border: 1px solid var(--line); border-radius: .4rem; padding: .8rem 1rem; overflow-x: auto; background: var(--back) }
table { border-collapse: collapse; width: 100% }
form { margin: 1rem 0 } label { display: block; font-weight: 600 }
input { box-sizing: border-box; width: 100%; margin: .3rem 0 1rem; padding: .5rem .7rem; font: inherit; color: inherit;
  background: var(--back); border: 1px solid var(--soft); border-radius: .4rem }
input[readonly] { background: var(--page) } fieldset { margin: 1rem 0; padding: .6rem 1rem; border: 1px solid var(--line);
  border-radius: .4rem } legend { padding: 0 .4rem; font-weight: 600 }
.choice { display: flex; gap: .7rem; align-items: baseline; padding: .3rem 0; font-weight: 400 }
input[type=checkbox] { flex: none; width: 1.1rem; height: 1.1rem; margin: 0; accent-color: var(--link) }
button { padding: .55rem 1.1rem; font: inherit; font-weight: 600; color: var(--back); background: var(--link);
  border: 1px solid var(--link); border-radius: .4rem; cursor: pointer }
button.plain { color: var(--link); background: none }
button:disabled { opacity: .55; cursor: default } :focus-visible { outline: 3px solid var(--link); outline-offset: 2px }
.notice { border-left: .25rem solid var(--link); padding-left: .9rem } [hidden] { display: none }
.buttons { display: flex; flex-wrap: wrap; gap: .6rem }
dt { font-weight: 600 } dd { margin: 0 0 .7rem; overflow-wrap: anywhere }
th, td { border-bottom: 1px solid var(--line); padding: .4rem .8rem .4rem 0; text-align: left; vertical-align: top }
`

/** The seal of web/public/icon.svg. Its name stands beside it, so screen readers skip it. */
const seal = new Html(
  '<svg width="28" height="28" viewBox="0 0 32 32" aria-hidden="true"><circle cx="16" cy="16" r="14" fill="#0f766e"/>' +
    '<path d="M9 16.5l5 5 9-10" fill="none" stroke="#fff" stroke-width="3.5" stroke-linecap="round"/></svg>',
)

const styleHash = hashSource(style)

/** A script at the end of a page. It calls only its own host, and the policy names it by its hash. */
export class PageScript {
  readonly markup: Html
  readonly hash: string
  constructor(source: string) {
    if (/<\/script|<!--/i.test(source)) throw new Error('This script would end, or begin, markup of its own.')
    this.markup = new Html(`<script>${source}</script>`)
    this.hash = hashSource(source)
  }
}

/** Returns the hash of inline text in the form of a content security policy (CSP 3, section 2.3.1). */
function hashSource(text: string): string {
  return `sha256-${hash('sha256', text, 'base64')}`
}

/** Renders a whole HTML page. */
export function renderPage({
  title,
  body,
  script,
  layout,
}: Pick<Page, 'title' | 'body' | 'script' | 'layout'>): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Org-Memory Hub</title>
<style>${new Html(style)}</style>
</head>
<body${layout === undefined ? html`` : html` class="${layout}"`}>
<header><a class="brand" href="/">${seal}Org-Memory Hub</a></header>
<main>
${body}
</main>
${script?.markup ?? html``}
</body>
</html>
`.text
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Marks an HTML page, or the target of its form: no operation of the API, and open to everyone. */
    page?: true | 'action'
  }
}

export interface Page {
  title: string
  body: Html
  /** The status. Default 200. */
  status?: number
  /** Whether nobody may store it, such as a page behind a secret address. */
  noStore?: boolean
  /** Whether it has a form, whose action is on this host. */
  hasForm?: boolean
  /** The final target of the form if that may be another host of the Hub: an address, or a path of this host. */
  formLeadsTo?: string
  script?: PageScript
  /** The layout; `card` is narrow and centred, for a page with a single task. */
  layout?: 'card'
}

/** Adds an HTML page, without token and tenant. `handler` returns title and body, or throws DomainError. */
export function addPage(
  app: FastifyInstance,
  path: string,
  handler: (request: FastifyRequest, reply: FastifyReply) => Promise<Page | FastifyReply>,
): void {
  app.get(path, { config: { page: true } }, async (request, reply) => answer(await handler(request, reply), reply))
}

/**
 * Adds the POST target of a page's button. Its body, a form or JSON of at most 4 KiB or none, is ignored. A request
 * from a page of another site is refused (403 `cross-site-request`) before the body is read. `handler` may set cookies;
 * it returns a page or `reply.redirect(path, 303)`, or throws DomainError.
 */
export function addPageAction(
  app: FastifyInstance,
  path: string,
  handler: (request: FastifyRequest, reply: FastifyReply) => Promise<Page | FastifyReply>,
): void {
  app.post(path, { bodyLimit: bodyBounds.form.bytes, config: { page: 'action' } }, async (request, reply) =>
    answer(await handler(request, reply), reply),
  )
}

/**
 * Sends a page. A reply is a promise of its end, so awaiting a handler that returned one yields undefined; it was
 * already sent.
 */
function answer(page: Page | FastifyReply | undefined, reply: FastifyReply): FastifyReply {
  return page && 'body' in page ? sendPage(page, reply) : reply
}

/** Responds with a page instead of another response, such as for an error. */
export function sendPage(page: Page, reply: FastifyReply): FastifyReply {
  reply.status(page.status ?? 200).headers(pageHeaders({ ...page, styleHash, scriptHash: page.script?.hash }))
  return reply.type('text/html; charset=utf-8').send(renderPage(page))
}

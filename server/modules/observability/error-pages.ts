import type { FastifyInstance } from 'fastify'
import { DomainError } from '../../../contract/domain-error.ts'
import { type ProblemSlug, problems } from '../../../contract/problems.ts'
import { addPage, type Html, html } from '../../http/page.ts'

/** Adds the pages that the `type` of problem documents refers to, and their list. */
export function addErrorPages(app: FastifyInstance): void {
  addPage(app, '/errors', async () => ({ title: 'Errors', body: listOfProblems() }))
  addPage(app, '/errors/:slug', async (request) => {
    const { slug } = request.params as { slug: string }
    if (!Object.hasOwn(problems, slug)) {
      throw new DomainError('not-found', 'No error has this name. /errors lists them all.')
    }
    return { title: problems[slug as ProblemSlug].title, body: pageOf(slug as ProblemSlug) }
  })
}

function pageOf(slug: ProblemSlug): Html {
  const { status, title, meaning, remedy } = problems[slug]
  return html`<p class="soft">HTTP ${status} · <code>${slug}</code></p>
<h1>${title}</h1>
<p>${inline(meaning)}</p>
<h2>What to do</h2>
<p>${inline(remedy)}</p>
<p class="soft">Errors are problem documents (RFC 7807). <code>detail</code> says what was wrong this time;
<code>instance</code> is the id of the request, which the operator finds in the log.</p>
<p><a href="/errors">All errors</a> · <a href="/reference">API reference</a></p>`
}

function listOfProblems(): Html {
  const rows = Object.entries(problems).map(
    ([slug, { status, title }]) =>
      html`<tr><td>${status}</td><td><a href="/errors/${slug}">${title}</a></td><td><code>${slug}</code></td></tr>`,
  )
  return html`<h1>Errors</h1>
<p>Every error is a problem document (RFC 7807) whose <code>type</code> is the address of one of these pages.</p>
<table><thead><tr><th>Status</th><th>Title</th><th>Slug</th></tr></thead><tbody>${rows}</tbody></table>
<p><a href="/reference">API reference</a></p>`
}

/** Formats the text between backquotes as `code`. */
function inline(text: string): Html[] {
  return text.split('`').map((part, index) => (index % 2 === 0 ? html`${part}` : html`<code>${part}</code>`))
}

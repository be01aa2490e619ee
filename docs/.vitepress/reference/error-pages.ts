import { problemExample } from '../../../contract/problem-examples.ts'
import { type ProblemSlug, problems } from '../../../contract/problems.ts'
import { fenced, type ReferencePage } from './markdown-text.ts'

/** Returns a page for each error, with the text of the Hub's own page at `/errors/<slug>`, and their list. */
export function errorPages(): ReferencePage[] {
  const slugs = Object.keys(problems) as ProblemSlug[]
  const rows = slugs.map((slug) => `| ${problems[slug].status} | [${problems[slug].title}](${slug}.md) | \`${slug}\` |`)
  const list = `# Errors

Every error is a problem document (RFC 7807). Its \`type\` is the address of one of these pages at your Hub.

| Status | Title | Slug |
|---|---|---|
${rows.join('\n')}
`
  return [{ title: 'Errors', file: 'errors/index.md', text: list }, ...slugs.map(pageOf)]
}

function pageOf(slug: ProblemSlug): ReferencePage {
  const { status, title, meaning, remedy } = problems[slug]
  const example = problemExample(slug)
  const text = `# Error: ${title}

HTTP ${status}, slug \`${slug}\`. [All errors](index.md)

${meaning}

## What to do

${remedy}

## Example

${fenced('json', JSON.stringify(example, undefined, 2))}
\`detail\` says what was wrong this time. \`instance\` is the id of the request, which the operator finds in the log.
`
  return { title, file: `errors/${slug}.md`, text }
}

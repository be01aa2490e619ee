import { dirname } from 'node:path'
import type { MarkdownOptions, MarkdownRenderer } from 'vitepress'
import { addressOf, root } from './pages.ts'

type Token = ReturnType<MarkdownRenderer['parse']>[number]

/** The Markdown of GitHub, without anything inline that the content security policy would stop. */
export const markdown: MarkdownOptions = {
  // Text such as `<name>` outside of code is text on GitHub as well.
  html: false,
  // It would make an address of every file name that ends with a top-level domain, such as `x.md`.
  linkify: false,
  anchor: { slugify: anchorOf },
  // The usual highlighter colours words by `style` attributes.
  highlight: (code) => `<pre tabindex="0" v-pre><code>${escapeText(code)}</code></pre>`,
  config: (md) => {
    md.core.ruler.push('links-of-github', ({ tokens, env }) => forEachToken(tokens, (token) => adaptLink(token, env)))
    md.core.ruler.push('plain-attributes', ({ tokens }) => forEachToken(tokens, adaptBlock))
  },
}

/** Returns the anchor that GitHub gives a heading. */
export function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** Calls `adapt` with every token and its neighbour on the inside. Inner tokens follow their block. */
function forEachToken(tokens: readonly Token[], adapt: (token: Token, content?: Token) => void): void {
  for (const [index, token] of tokens.entries()) {
    adapt(token, tokens[token.nesting < 0 ? index - 1 : index + 1])
    if (token.children) forEachToken(token.children, adapt)
  }
}

/**
 * Replaces a relative link by the address on the site. The Hub does not serve its sources: a link to one loses its
 * address, so that browsers show it as text, and has the path as its title.
 */
function adaptLink(token: Token, env: { path: string; realPath?: string }): void {
  const href = token.type === 'link_open' ? token.attrGet('href') : null
  if (href === null || href.startsWith('#') || /^[a-z]+:/.test(href)) return
  const page = env.realPath ?? env.path
  const address = addressOf(href, page)
  if (address !== undefined) token.attrSet('href', address)
  else token.attrs = [['title', new URL(href, `file://${dirname(page)}/`).pathname.slice(root.length + 1)]]
}

/**
 * Gives indented code the frame of fenced code, and aligned cells a class instead of a style. An empty cell is no
 * header, since screen readers would read it as one.
 */
function adaptBlock(token: Token, content?: Token): void {
  if (token.type === 'code_block') Object.assign(token, { type: 'fence', tag: 'code', info: '', markup: '```' })
  if (token.tag === 'th' && content?.content === '') token.tag = 'td'
  const style = token.attrGet('style')
  if (style === null) return
  token.attrs = (token.attrs ?? []).filter(([name]) => name !== 'style')
  token.attrJoin('class', style.replace('text-align:', 'align-'))
}

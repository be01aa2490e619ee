import { dirname, extname, join, relative, resolve } from 'node:path'

/** The root of the checkout, which all paths of this file are relative to. */
export const root = resolve(import.meta.dirname, '../..')

/** Pages outside `docs/`, by their place on the site. */
const pagesElsewhere: Readonly<Record<string, string>> = {
  'CHANGELOG.md': 'changelog.md',
  'CONTRIBUTING.md': 'contributing.md',
  'SECURITY.md': 'report-a-vulnerability.md',
  'bench/README.md': 'benchmarks.md',
  'examples/README.md': 'examples.md',
  'sdk/python/README.md': 'sdk/python.md',
  'sdk/typescript/README.md': 'sdk/typescript.md',
}

/** The folder of the pages that the build writes. */
export const generated = 'docs/reference'

/** Every source that the site is built from: folders with all of their files, and files. */
export const sources = ['docs', 'package-lock.json', 'web/public/icon.svg', ...Object.keys(pagesElsewhere)]

/** Matches the other Markdown files of the checkout. */
export const noPages = ['README.md', 'examples/*/**', '{cli,contract,demo,deploy,provenance,server,tests,web}/**']

/**
 * Returns the place of a page on the site.
 *
 * @param file path of a Markdown file, for example `docs/adr/README.md`
 * @returns for example `adr/index.md`; undefined if the file is no page
 */
export function placeOf(file: string): string | undefined {
  if (!file.startsWith('docs/')) return pagesElsewhere[file]
  return file.replace(/^docs\/(reference\/)?/, '').replace(/(^|\/)README\.md$/, '$1index.md')
}

/**
 * Returns the address on the site that a link of a page leads to.
 *
 * @param href a relative link as GitHub understands it, with or without an anchor
 * @param page absolute path of the page that has the link
 * @returns an address below the base, also for a page that does not exist, which VitePress reports; undefined for
 *   other files of the checkout, whose existence tests/documentation.test.ts checks
 */
export function addressOf(href: string, page: string): string | undefined {
  const [path = '', anchor] = href.split('#')
  const file = relative(root, join(dirname(page), decodeURI(path)))
  if (file.startsWith('docs/images/')) return `/${file.slice('docs/'.length)}`
  const place = { '.md': placeOf(file), '': placeOf(`${file}/README.md`) }[extname(file)]
  if (place === undefined) return undefined
  return `/${place.replace(/(^|\/)index\.md$/, '$1')}${anchor === undefined ? '' : `#${anchor}`}`
}

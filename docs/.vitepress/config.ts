import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { defineConfig } from 'vitepress'
import { markdown } from './markdown.ts'
import { noPages, placeOf, root } from './pages.ts'
import { sidebar } from './sidebar.ts'

const base = '/docs/'
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }

/** The folder of files whose names change with their contents. */
const assets = 'assets'

/** The documentation site, which the Hub serves at `/docs/`. VitePress fails on dead links. */
export default defineConfig({
  base,
  srcDir: '..',
  srcExclude: noPages,
  rewrites: (page) => placeOf(page) ?? page,
  title: 'Org-Memory Hub',
  description: 'Documentation of the Org-Memory Hub',
  lang: 'en',
  cleanUrls: true,
  // It would disable transitions by an inline style sheet, which the content security policy stops.
  appearance: { disableTransition: false },
  assetsDir: assets,
  // Otherwise every page has the names of all pages in an inline script.
  metaChunk: true,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: '/icon.svg' }]],
  markdown,
  // The index of the search is one large chunk.
  vite: { configFile: false, build: { chunkSizeWarningLimit: 5_000 }, server: { fs: { allow: ['../..'] } } },
  themeConfig: {
    logo: '/icon.svg',
    nav: [
      // Each Hub serves the pages of its own version.
      { text: `Version ${version}`, link: '/changelog' },
      // Out of the site: a target keeps its router from following the link.
      { text: 'Open the Hub', link: '/../', target: '_self' },
      { text: 'Try the API', link: '/../reference/', target: '_self' },
    ],
    sidebar: sidebar(),
    outline: [2, 3],
    search: { provider: 'local' },
  },
  transformHtml: (page, _file, { siteConfig }) => withoutInline(page, siteConfig.outDir),
  buildEnd: async ({ outDir }) => {
    await cp(join(root, 'web/public/icon.svg'), join(outDir, 'icon.svg'))
    // Pages link to pictures, too. VitePress takes along only those that a page shows.
    await cp(join(root, 'docs/images'), join(outDir, 'images'), { recursive: true })
  },
})

/** Moves inline scripts into files and removes `style` attributes: the content security policy allows neither. */
async function withoutInline(page: string, outDir: string): Promise<string> {
  const files = new Map<string, string>()
  const text = page
    .replaceAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g, (_, source: string) => {
      const name = `${assets}/inline.${hash('sha256', source).slice(0, 8)}.js`
      files.set(name, source)
      return `<script src="${base}${name}"></script>`
    })
    // The theme sets the same styles when it starts.
    .replaceAll(/(<[a-z][^<>]*?) style="[^"]*"/g, '$1')
  for (const [name, source] of files) {
    await mkdir(dirname(join(outDir, name)), { recursive: true })
    await writeFile(join(outDir, name), source)
  }
  return text
}

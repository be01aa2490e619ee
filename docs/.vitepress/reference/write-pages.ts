import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { generated, root } from '../pages.ts'
import { apiPages } from './api-pages.ts'
import { errorPages } from './error-pages.ts'

/**
 * Writes the pages that have another source than Markdown, into a folder that Git ignores. Equal files stay untouched,
 * because builds may run side by side.
 *
 * @param folder absolute path, by default that of the site
 */
export function writeReferencePages(folder: string = join(root, generated)): void {
  const pages = new Map([...apiPages(), ...errorPages()].map(({ file, text }) => [file, text]))
  for (const [file, text] of pages) {
    const path = join(folder, file)
    if (existsSync(path) && readFileSync(path, 'utf8') === text) continue
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (file.endsWith('.md') && !pages.has(file)) rmSync(join(folder, file))
  }
}

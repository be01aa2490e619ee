/**
 * Writes `dist/`, the folder of the npm package that runs: JavaScript instead of TypeScript, because Node removes no types
 * below `node_modules`. `npm pack` runs it:
 *
 *     node deploy/write-package.ts [FOLDER]
 *
 * Removing types keeps lines and columns, so stack traces fit the sources.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, extname, join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')

/** The folders that the command line imports or reads, from the root of the checkout. */
const folders = ['cli', 'contract', 'demo', 'provenance', 'sdk/typescript/src', 'server']
/** `hub.js` starts `dist/cli/main.js` from outside. */
const excluded = new Set(['cli/hub.js'])
/** Built pages and data that Node does not import. */
const copied = ['web/dist', 'docs/.vitepress/dist']

/** Matches a string that is the name of a TypeScript file, such as a specifier of an import. */
const fileName = /(['"])((?:\.{1,2}\/)?[\w./-]+)\.ts\1/g

/**
 * Returns the JavaScript of a TypeScript file. Names of files that exist beside it end with `.js` then.
 *
 * @param path from the root of the checkout
 */
export function javaScriptOf(path: string): string {
  const folder = dirname(join(root, path))
  return stripTypeScriptTypes(readFileSync(join(root, path), 'utf8')).replace(
    fileName,
    (text, quote: string, name: string) =>
      existsSync(join(folder, `${name}.ts`)) ? `${quote}${name}.js${quote}` : text,
  )
}

/** Writes the package's files to a folder, which is emptied first. */
export function writePackage(target: string): void {
  rmSync(target, { recursive: true, force: true })
  for (const folder of folders) {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true, recursive: true })) {
      const path = join(entry.parentPath, entry.name).slice(root.length + 1)
      if (!entry.isFile() || excluded.has(path)) continue
      const output = join(target, path)
      mkdirSync(dirname(output), { recursive: true })
      if (extname(path) !== '.ts') cpSync(join(root, path), output)
      else if (!path.endsWith('.d.ts')) writeFileSync(output.replace(/\.ts$/, '.js'), javaScriptOf(path))
    }
  }
  for (const folder of copied) cpSync(join(root, folder), join(target, folder), { recursive: true })
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  writeFileSync(join(target, 'package.json'), `${JSON.stringify({ type: 'module', version })}\n`)
}

if (import.meta.main) writePackage(resolve(process.argv[2] ?? join(root, 'dist')))

/**
 * Builds the web UI into `web/dist/`, if that is absent or was built from other sources:
 *
 *     npm run build
 *
 * On failure it prints the reason, exits with 1 and keeps the previous build. Several builds may run side by side.
 */
import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { chmod, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify, stripVTControlCharacters } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

const web = fileURLToPath(new URL('.', import.meta.url))
const checkout = dirname(web)

/** The sources of the UI, from the root of the checkout. */
const sources = ['web', 'contract', 'provenance', 'sdk', 'demo', 'docs/glossary.md', 'package-lock.json']
/** The file in `dist` with the digest of its sources. The server never sends it. */
const digestFile = 'sources.sha256'
const compressible = new Set(['.js', '.css', '.svg', '.json', '.csv', '.wasm', '.html'])
const compressedFromBytes = 1024
/** A killed build leaves its folder behind. */
const abandonedAfterMs = 10 * 60_000

/** Returns SHA-256 over names and contents of all sources, in hexadecimal. Those of the UI are the default. */
export function digestOfSources(root: string = checkout, paths: readonly string[] = sources): string {
  const files = paths.flatMap((source) => filesOf(root, source)).sort()
  return hash('sha256', files.map((file) => `${file} ${hash('sha256', readFileSync(join(root, file)))}\n`).join(''))
}

function filesOf(root: string, path: string): string[] {
  if (!existsSync(join(root, path))) return []
  if (!statSync(join(root, path)).isDirectory()) return [path]
  return readdirSync(join(root, path), { withFileTypes: true })
    .filter(({ name }) => !isOutput(name))
    .flatMap((entry) => (entry.isDirectory() ? filesOf(root, join(path, entry.name)) : [join(path, entry.name)]))
}

/**
 * Returns true for `dist`, the folders of builds in progress, and the caches of VitePress and Python. Packing the SDK
 * or running its Python must not cause a build, which replaces files that open pages load.
 */
function isOutput(name: string): boolean {
  return name === 'dist' || name.startsWith('dist.') || name === 'cache' || name === '__pycache__'
}

/**
 * Builds if the sources changed.
 *
 * @param dist the target, whose parent must be writable
 * @param bundle writes the page and its files to a folder
 * @param digest of the sources
 * @returns true if a build was made
 * @throws errors of Vite or the file system
 */
export async function ensureBuilt(
  dist: string = join(web, 'dist'),
  bundle = runVite,
  digest: string = digestOfSources(),
): Promise<boolean> {
  if ((await digestOf(dist)) === digest) return false
  await deleteAbandoned(dist)
  const built = await mkdtemp(`${dist}.building-`)
  // mkdtemp creates it for its owner only, but the user who installs is often not the user who serves.
  await chmod(built, 0o755)
  try {
    await bundle(built)
    await compressAll(built)
    await writeFile(join(built, digestFile), digest)
    await putInPlace(built, dist, digest)
  } finally {
    await rm(built, { recursive: true, force: true })
  }
  return true
}

async function digestOf(dist: string): Promise<string | undefined> {
  return readFile(join(dist, digestFile), 'utf8').catch(() => undefined)
}

async function runVite(outDir: string): Promise<void> {
  // Vite uses React's slower build for any other value, such as that of tests.
  process.env.NODE_ENV = 'production'
  // Loaded here only: the check for changes does not need it.
  const { build } = await import('vite')
  await build({
    configFile: join(web, 'vite.config.ts'),
    build: { outDir, emptyOutDir: false },
    logLevel: 'silent',
  })
}

/**
 * Writes `<file>.br` and `<file>.gz` beside each file that becomes smaller. The page of the UI differs in every
 * response, and nobody asks for its compressed form.
 */
async function compressAll(folder: string): Promise<void> {
  const files = (await readdir(folder, { recursive: true })).filter((file) => compressible.has(extname(file)))
  await Promise.all(files.map((file) => compress(join(folder, file))))
}

async function compress(file: string): Promise<void> {
  const content = await readFile(file)
  if (content.length < compressedFromBytes) return
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
  }
  await Promise.all([
    promisify(brotliCompress)(content, { params }).then((data) => writeFile(`${file}.br`, data)),
    promisify(gzip)(content, { level: 9 }).then((data) => writeFile(`${file}.gz`, data)),
  ])
}

/**
 * Replaces the folder. This cannot be done in one step, so the old one is moved away first. Another build may do the
 * same.
 */
async function putInPlace(built: string, dist: string, digest: string): Promise<void> {
  for (;;) {
    try {
      await rename(built, dist)
      return
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error
    }
    if ((await digestOf(dist)) === digest) return
    const replaced = `${built}.replaced`
    await rename(dist, replaced).catch(ignoreMissing)
    await rm(replaced, { recursive: true, force: true })
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}

async function deleteAbandoned(dist: string): Promise<void> {
  const folder = dirname(dist)
  const begun = (await readdir(folder)).filter((name) => name.startsWith(`${basename(dist)}.building-`))
  for (const name of begun) {
    const modified = await stat(join(folder, name)).then(({ mtimeMs }) => mtimeMs, Date.now)
    if (Date.now() - modified > abandonedAfterMs) await rm(join(folder, name), { recursive: true, force: true })
  }
}

async function main(): Promise<void> {
  const begun = performance.now()
  try {
    if (!(await ensureBuilt())) return
    console.log(`The web UI is built (${((performance.now() - begun) / 1000).toFixed(1)} s).`)
  } catch (error) {
    // Logs and pages that show the message have no colours.
    const message = stripVTControlCharacters((error as Error).message)
    console.error(`The web UI could not be built: ${message}\nMend that, then run: npm run build`)
    process.exitCode = 1
  }
}

if (import.meta.main) await main()

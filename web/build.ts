/**
 * Builds the web UI into `web/dist/`, where that is missing or was built from other sources:
 *
 *     npm run build
 *
 * Says so and exits with 1 where it fails; what was built before stays then. Several may run side by side.
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

/** What the UI is made of, from the root of the checkout. */
const sources = ['web', 'contract', 'provenance', 'sdk', 'demo', 'package-lock.json']
/** In `dist`: what it was built from. The server never sends it. */
const digestFile = 'sources.sha256'
const compressible = new Set(['.js', '.css', '.svg', '.json', '.csv', '.wasm'])
const compressedFromBytes = 1024
/** A build that was killed leaves its folder behind. */
const abandonedAfterMs = 10 * 60_000

/** SHA-256 over names and contents of all sources, in hexadecimal. */
export function digestOfSources(root: string = checkout): string {
  const files = sources.flatMap((source) => filesOf(root, source)).sort()
  return hash('sha256', files.map((file) => `${file} ${hash('sha256', readFileSync(join(root, file)))}\n`).join(''))
}

function filesOf(root: string, path: string): string[] {
  if (!existsSync(join(root, path))) return []
  if (!statSync(join(root, path)).isDirectory()) return [path]
  return readdirSync(join(root, path), { withFileTypes: true })
    .filter(({ name }) => path !== 'web' || !isBuildFolder(name))
    .flatMap((entry) => (entry.isDirectory() ? filesOf(root, join(path, entry.name)) : [join(path, entry.name)]))
}

/** `dist` and those that are to become it. */
function isBuildFolder(name: string): boolean {
  return name === 'dist' || name.startsWith('dist.')
}

/**
 * Builds where that is needed.
 *
 * @param dist where to, with a parent that may be written to
 * @param bundle writes the page and its files to a folder
 * @returns whether something was built
 * @throws what Vite or the file system says
 */
export async function ensureBuilt(dist: string = join(web, 'dist'), bundle = runVite): Promise<boolean> {
  const digest = digestOfSources()
  if ((await digestOf(dist)) === digest) return false
  await forgetAbandoned(dist)
  const built = await mkdtemp(`${dist}.building-`)
  // Made for its owner only; but whoever installs is often not who serves.
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
  // Vite takes React's slower build where this says something else, as it does under tests.
  process.env.NODE_ENV = 'production'
  // Loaded here only: looking whether anything changed needs none of it.
  const { build } = await import('vite')
  await build({
    configFile: join(web, 'vite.config.ts'),
    build: { outDir, emptyOutDir: false },
    logLevel: 'silent',
  })
}

/** Writes `<file>.br` and `<file>.gz` beside each file that gains by it. The page itself differs in every answer. */
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

/** A folder that is there cannot be replaced in one step, so it is moved away first. Another build may be as far. */
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

async function forgetAbandoned(dist: string): Promise<void> {
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
    // It ends up in logs and on a page, which show no colours.
    const message = stripVTControlCharacters((error as Error).message)
    console.error(`The web UI could not be built: ${message}\nMend that, then run: npm run build`)
    process.exitCode = 1
  }
}

if (import.meta.main) await main()

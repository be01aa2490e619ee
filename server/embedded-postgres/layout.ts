import { access, chmod, chown, constants, mkdir, mkdtemp, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative, sep } from 'node:path'
import { rootStateDirectory } from '../config/data-directory.ts'
import { StartupError } from '../startup-error.ts'
import { findBarredDirectory, findServerUser, type ServerUser } from './operating-system-user.ts'

/** The kernel limits a socket's path to 108 bytes, macOS to 104. */
const socketPathBytesMax = 100
const socketName = '.s.PGSQL.5432'

/** Lists the paths of the embedded server inside the data directory. */
export interface Layout {
  readonly dataDir: string
  readonly cluster: string
  readonly log: string
  readonly user: ServerUser | undefined
}

/**
 * Creates the data directory and ensures that the server's user can reach it. Directories created here may be passed
 * through. Existing parents belong to the operator: they are never changed, only named.
 *
 * @throws StartupError with the directory that cannot be created, written or entered
 */
export async function prepareLayout(dataDir: string): Promise<Layout> {
  const user = await findServerUser()
  try {
    const firstMade = await mkdir(dataDir, { recursive: true, mode: user ? 0o711 : 0o700 })
    await access(dataDir, constants.W_OK | constants.X_OK)
    if (user) await openForPassing(dataDir, firstMade, user)
  } catch (cause) {
    if (cause instanceof StartupError) throw cause
    throw new StartupError(
      `The data directory ${dataDir} cannot be used: ${(cause as Error).message}.`,
      'Set HUB_DATA_DIR to a directory that this user may write to.',
      { cause },
    )
  }
  return { dataDir, user, cluster: join(dataDir, 'pg'), log: join(dataDir, 'postgresql.log') }
}

async function openForPassing(dataDir: string, firstMade: string | undefined, user: ServerUser): Promise<void> {
  const made = firstMade === undefined ? [] : stepsBetween(firstMade, dataDir)
  for (const directory of made) await chmod(directory, 0o711)
  let barred = await findBarredDirectory(user, dataDir)
  for (const ours of [rootStateDirectory, dataDir]) {
    if (barred !== ours) continue
    await chmod(ours, (await stat(ours)).mode | 0o011)
    barred = await findBarredDirectory(user, dataDir)
  }
  if (barred === undefined) return
  throw new StartupError(
    `PostgreSQL runs as the user "${user.name}", who cannot enter ${barred}, where the data directory ${dataDir} lies.`,
    `Let others pass through it (chmod o+x ${barred}), or set HUB_DATA_DIR to a directory elsewhere.`,
  )
}

/** Returns `from`, a directory in it, and so on down to `to`. */
function stepsBetween(from: string, to: string): string[] {
  const steps = relative(from, to).split(sep).filter(Boolean)
  return [from, ...steps.map((_, index) => join(from, ...steps.slice(0, index + 1)))]
}

/**
 * Returns the directory of the server's socket: in the data directory, or in a temporary one if the path is too long.
 */
export async function makeSocketDirectory(layout: Layout): Promise<{ directory: string; temporary: boolean }> {
  const inside = join(layout.dataDir, 'run')
  const temporary = Buffer.byteLength(join(inside, socketName)) > socketPathBytesMax
  let directory = inside
  if (temporary) {
    // Uses the system's temporary directory if that of the process is too long or closed to the server's user.
    const fits = !layout.user && Buffer.byteLength(tmpdir()) < socketPathBytesMax - 40
    directory = await mkdtemp(join(fits ? tmpdir() : '/tmp', 'org-memory-hub-'))
  } else {
    await mkdir(directory, { recursive: true })
  }
  await giveTo(layout, directory)
  return { directory, temporary }
}

/** Makes a directory private to the server's user. */
async function giveTo(layout: Layout, directory: string): Promise<void> {
  await chmod(directory, 0o700)
  if (layout.user) await chown(directory, layout.user.uid, layout.user.gid)
}

import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { access, chmod, chown, constants, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative, sep } from 'node:path'
import { promisify } from 'node:util'
import { rootStateDirectory } from '../config/data-directory.ts'
import { StartupError } from '../startup-error.ts'

const run = promisify(execFile)

/** The kernel limits a socket's path to 108 bytes, macOS to 104. */
const socketPathBytesMax = 100
const socketName = '.s.PGSQL.5432'

/** The unprivileged user that runs the embedded server when the Hub runs as root. */
export interface ServerUser {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

/** Lists the paths of the embedded server inside the data directory. */
export interface Layout {
  readonly dataDir: string
  readonly cluster: string
  readonly log: string
  /** Undefined if the server runs as the user of this process. */
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
      'Set HUB_DATA_DIR to a directory that this user can write to.',
      { cause },
    )
  }
  return { dataDir, user, cluster: join(dataDir, 'pg'), log: join(dataDir, 'postgresql.log') }
}

/** Finds the user for the server. PostgreSQL refuses to run as root, so root uses `postgres` or else `nobody`. */
async function findServerUser(): Promise<ServerUser | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const accounts = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'))
  for (const name of ['postgres', 'nobody']) {
    const account = accounts.find((fields) => fields[0] === name)
    const [uid, gid] = [Number(account?.[2]), Number(account?.[3])]
    if (uid > 0 && gid > 0) return { name, uid, gid }
  }
  throw new StartupError(
    'PostgreSQL does not run as root, and the system has no user "postgres" or "nobody" to run it as.',
    'Run the Hub as an ordinary user, add such a user, or set HUB_DATABASE_URL to a database of your own.',
  )
}

async function openForPassing(dataDir: string, firstMade: string | undefined, user: ServerUser): Promise<void> {
  if (firstMade !== undefined) {
    const steps = relative(firstMade, dataDir).split(sep).filter(Boolean)
    for (let depth = 0; depth <= steps.length; depth++) await chmod(join(firstMade, ...steps.slice(0, depth)), 0o711)
  }
  let barred = await findBarredDirectory(user, dataDir)
  for (const ours of [rootStateDirectory, dataDir]) {
    if (barred !== ours) continue
    await chmod(ours, (await stat(ours)).mode | 0o011)
    barred = await findBarredDirectory(user, dataDir)
  }
  if (barred === undefined) return
  throw new StartupError(
    `PostgreSQL runs as the user "${user.name}", who has no access to ${barred}, which contains the data directory ${dataDir}.`,
    `Let others pass through it (chmod o+x ${barred}), or set HUB_DATA_DIR to a directory elsewhere.`,
  )
}

/**
 * Returns the outermost directory among this one and its ancestors that the user may not enter; undefined if all are
 * open. It asks the system instead of reading mode bits, because access lists decide too.
 */
async function findBarredDirectory({ uid, gid }: ServerUser, directory: string): Promise<string | undefined> {
  const chain = [directory]
  while (chain[0] !== undefined && dirname(chain[0]) !== chain[0]) chain.unshift(dirname(chain[0]))
  const script = 'for d; do [ -x "$d" ] || { printf %s "$d"; exit 0; }; done'
  const { stdout } = await run('/bin/sh', ['-c', script, 'sh', ...chain], { uid, gid, cwd: '/', env: {} })
  return stdout || undefined
}

/**
 * Creates the directory of the server's socket, private to the server's user: in the data directory, or a temporary one
 * if the path is too long.
 */
export async function makeSocketDirectory(layout: Layout): Promise<{ directory: string; temporary: boolean }> {
  let directory = join(layout.dataDir, 'run')
  const temporary = Buffer.byteLength(join(directory, socketName)) > socketPathBytesMax
  if (temporary) {
    // Uses the system's temporary directory if that of the process is too long or closed to the server's user.
    const fits = !layout.user && Buffer.byteLength(tmpdir()) < socketPathBytesMax - 40
    directory = await mkdtemp(join(fits ? tmpdir() : '/tmp', 'org-memory-hub-'))
  } else {
    await mkdir(directory, { recursive: true })
  }
  await chmod(directory, 0o700)
  if (layout.user) await chown(directory, layout.user.uid, layout.user.gid)
  return { directory, temporary }
}

/**
 * Identifies the process that serves a data directory, for commands beside the service and the error of a second start.
 */
interface InstanceFile {
  readonly pid: number
  readonly url: string
  readonly startedAt: string
}

const instanceFileIn = (dataDir: string) => join(dataDir, 'serve.json')

/** Writes the file, unless there is no data directory: with an external database and key none is needed. */
export async function writeInstanceFile(dataDir: string, url: string): Promise<void> {
  const file: InstanceFile = { pid: process.pid, url, startedAt: new Date().toISOString() }
  if (existsSync(dataDir)) await writeFile(instanceFileIn(dataDir), `${JSON.stringify(file)}\n`, { mode: 0o600 })
}

export async function removeInstanceFile(dataDir: string): Promise<void> {
  if (readInstanceFile(dataDir)?.pid === process.pid) await rm(instanceFileIn(dataDir), { force: true })
}

/**
 * Reads the file; returns undefined if it is missing or unreadable. It may be left over from a process that was killed.
 */
export function readInstanceFile(dataDir: string): InstanceFile | undefined {
  try {
    return JSON.parse(readFileSync(instanceFileIn(dataDir), 'utf8')) as InstanceFile
  } catch {
    return undefined
  }
}

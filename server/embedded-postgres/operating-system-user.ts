import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { StartupError } from '../startup-error.ts'

const run = promisify(execFile)

/** The unprivileged user that runs the embedded server when the Hub runs as root. */
export interface ServerUser {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

/**
 * Finds the user for the server. PostgreSQL refuses to run as root, so root uses another user: `postgres` if the system
 * has one, else `nobody`. Returns undefined if this process is not root; the server then runs as the same user.
 */
export async function findServerUser(): Promise<ServerUser | undefined> {
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

/**
 * Returns the outermost directory among this one and its ancestors that the user may not enter; undefined if all are
 * open. It asks the system instead of reading mode bits, because access lists decide too.
 */
export async function findBarredDirectory(user: ServerUser, directory: string): Promise<string | undefined> {
  const chain = [directory]
  while (chain[0] !== undefined && dirname(chain[0]) !== chain[0]) chain.unshift(dirname(chain[0]))
  const script = 'for d; do [ -x "$d" ] || { printf %s "$d"; exit 0; }; done'
  const { stdout } = await run('/bin/sh', ['-c', script, 'sh', ...chain], {
    uid: user.uid,
    gid: user.gid,
    cwd: '/',
    env: {},
  })
  return stdout || undefined
}

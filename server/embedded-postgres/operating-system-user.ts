import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { StartupError } from '../startup-error.ts'

const run = promisify(execFile)

/** The unprivileged user that the embedded server runs as when the Hub runs as root. */
export interface ServerUser {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

/**
 * PostgreSQL refuses to run as root, so root lends it another user: `postgres` where the system has one, else
 * `nobody`. Undefined when this process is not root and the server simply runs as the same user.
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
 * The outermost of a directory's ancestors, and itself, that the user may not enter; undefined when all are open.
 * Asked of the system rather than read from mode bits, because access lists decide too.
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

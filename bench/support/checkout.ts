import { execFile } from 'node:child_process'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { atEnd } from './cleanup.ts'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../..')

/** A version of the Hub in a directory of its own. */
interface Checkout {
  /** The short hash of the commit. */
  commit: string
  /** Its program. */
  main: string
}

/**
 * Extracts a commit into a temporary directory, which the end of the process removes. It uses the packages of this
 * checkout, so a commit with other dependencies may not start.
 *
 * @param revision any name of a commit that Git knows
 * @throws Error if there is no such commit
 */
export async function checkOut(revision: string): Promise<Checkout> {
  const git = async (...args: string[]) => (await run('git', args, { cwd: root })).stdout.trim()
  const commit = await git('rev-parse', '--short', '--verify', `${revision}^{commit}`)
  const directory = await mkdtemp(join(tmpdir(), `hub-bench-${commit}-`))
  atEnd(() => rm(directory, { recursive: true, force: true }))
  const archive = `${directory}.tar`
  atEnd(() => rm(archive, { force: true }))
  await git('archive', '--output', archive, commit)
  await run('tar', ['-xf', archive, '-C', directory])
  // Without the script, the service does not build its web UI, which no benchmark needs.
  await rm(join(directory, 'web/build.ts'), { force: true })
  await symlink(join(root, 'node_modules'), join(directory, 'node_modules'))
  return { commit, main: join(directory, 'cli/main.ts') }
}

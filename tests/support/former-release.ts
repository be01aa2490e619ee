import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const root = resolve(import.meta.dirname, '../..')
const migrations = 'server/db/migrations'
/** Without `web`: a start would build the UI. */
const sources = ['cli', 'server', 'contract', 'provenance', 'sdk', 'demo', 'package.json']

/** The sources of the commit before the newest migration, with the packages of this checkout. */
export interface FormerRelease {
  readonly commit: string
  /** The program, as `startHubProcess` takes it. */
  readonly main: string
  /** The number of its migrations. */
  readonly migrations: number
  remove(): Promise<void>
}

/** Takes the former release from the history of this checkout; undefined where the history is absent or shallow. */
export async function takeFormerRelease(): Promise<FormerRelease | undefined> {
  const commit = await formerCommit().catch(() => undefined)
  if (commit === undefined) return undefined
  const directory = await mkdtemp(join(tmpdir(), 'hub-former-'))
  const archive = join(directory, 'sources.tar')
  await git('archive', '--format=tar', `--output=${archive}`, commit, ...sources)
  await run('tar', ['-xf', archive, '-C', directory])
  await rm(archive)
  await symlink(join(root, 'node_modules'), join(directory, 'node_modules'))
  return {
    commit,
    main: join(directory, 'cli/main.ts'),
    migrations: (await readdir(join(directory, migrations))).length,
    remove: () => rm(directory, { recursive: true, force: true }),
  }
}

/** Returns the newest commit whose migrations are not those of this checkout. */
async function formerCommit(): Promise<string | undefined> {
  if ((await git('rev-parse', '--is-shallow-repository')) !== 'false') return undefined
  const committed = (await git('ls-tree', '--name-only', 'HEAD', `${migrations}/`)).split('\n')
  if (committed.length !== (await readdir(join(root, migrations))).length) return git('rev-parse', 'HEAD')
  const newest = await git('log', '-1', '--format=%H', '--diff-filter=A', '--', migrations)
  return git('rev-parse', `${newest}~1`)
}

const run = promisify(execFile)

async function git(...args: string[]): Promise<string> {
  // A checkout may belong to another user than the one who tests.
  const { stdout } = await run('git', ['-c', 'safe.directory=*', ...args], { cwd: root })
  return stdout.trim()
}

import { execFile } from 'node:child_process'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { scaled } from '../../support/machine-speed.ts'

const run = promisify(execFile)

/** A runtime of JavaScript: the npm package of its program for this machine, and how it runs a file. */
interface Runtime {
  name: string
  package: string
  version: string
  /** The program within the package. */
  program: string
  args: (origin: string) => string[]
}

const platform = `${process.platform}-${process.arch}`
const bunPlatform = process.arch === 'arm64' ? `${process.platform}-aarch64` : `${platform}-baseline`

/** The oldest Node that the SDK supports, and the other runtimes that its README names. */
export const runtimes: readonly Runtime[] = [
  { name: 'Node 20.3', package: `node-${platform}`, version: '20.3.1', program: 'bin/node', args: () => [] },
  {
    name: 'Deno',
    package: `@deno/${platform}${process.platform === 'linux' ? '-glibc' : ''}`,
    version: '2.9.6',
    program: 'deno',
    // It may use the Hub, files and variables, and nothing else.
    args: (origin) => [
      ...['run', '--no-prompt', '--no-remote', '--node-modules-dir=manual', '--allow-env', '--allow-read'],
      ...['--allow-write', '--allow-sys', `--allow-net=${new URL(origin).host}`],
    ],
  },
  { name: 'Bun', package: `@oven/bun-${bunPlatform}`, version: '1.4.5', program: 'bin/bun', args: () => ['run'] },
]

/** Installs the runtimes from the npm registry into a fresh folder, which the caller removes. Fails if one is missing. */
export async function installRuntimes(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hub-runtimes-'))
  await writeFile(join(folder, 'package.json'), '{"private":true}')
  const packages = runtimes.map(({ package: name, version }) => `${name}@${version}`)
  const options = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
  await run('npm', ['install', ...options, ...packages], { cwd: folder, timeout: scaled(240_000) })
  return folder
}

/** Runs a file in a runtime that {@link installRuntimes} installed, and returns its standard output. */
export async function runIn(
  { package: name, program, args }: Runtime,
  { installed, file, origin, env }: { installed: string; file: string; origin: string; env: Record<string, string> },
): Promise<string> {
  const { stdout } = await run(join(installed, 'node_modules', name, program), [...args(origin), file], {
    cwd: join(file, '..'),
    env: { PATH: process.env.PATH, HOME: installed, ...env },
    timeout: scaled(60_000),
  })
  return stdout
}

import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, cp, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { root } from '../deploy/dockerfile.ts'

/** `npm pack` of a copy of the checkout, and `npx` of the result in an empty folder. */

const run = promisify(execFile)
const sources = [
  ...['.npmrc', 'package.json', 'package-lock.json', 'tsconfig.json', 'LICENSE', 'README.md', 'CHANGELOG.md'],
  ...['CONTRIBUTING.md', 'SECURITY.md', 'bench/README.md', 'examples/README.md', 'tests/golden/openapi.json'],
  ...['cli', 'contract', 'demo', 'deploy', 'docs', 'provenance', 'sdk', 'server', 'web'],
]
const isSource = (path: string) => !/\/(node_modules|cache|dist(\.[^/]*)?|__pycache__)$/.test(path)
let folder: string
let tarball: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hub-package-'))
  // The user of the embedded PostgreSQL passes through it.
  await chmod(folder, 0o755)
  const checkout = join(folder, 'checkout')
  for (const name of sources) await cp(join(root, name), join(checkout, name), { recursive: true, filter: isSource })
  await symlink(join(root, 'node_modules'), join(checkout, 'node_modules'))
  await run('npm', ['pack', '--pack-destination', folder], { cwd: checkout })
  // Only the sources remain.
  expect(await readdir(checkout)).not.toContain('dist')
  tarball = join(folder, (await readdir(folder)).find((name) => name.endsWith('.tgz'))!)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('the package has JavaScript, data, the built web UI and documentation, and no sources, tests or settings', async () => {
  const { stdout } = await run('tar', ['-tzf', tarball])
  const names = stdout
    .trim()
    .split('\n')
    .map((name) => name.replace(/^package\//, ''))
  expect(names).toEqual(
    expect.arrayContaining([
      ...['package.json', 'LICENSE', 'README.md', 'cli/hub.js', 'dist/cli/main.js', 'dist/web/dist/index.html'],
      'dist/docs/.vitepress/dist/index.html',
      ...['dist/server/db/migrations/0001-foundation.sql', 'dist/server/limits/consume.lua', 'dist/package.json'],
    ]),
  )
  expect(names.filter((name) => /\.tsx?$|^(tests|web|server|deploy|\.ci)\/|secret/.test(name))).toEqual(
    names.filter((name) => /^dist\/server\/(secrets\/|config\/secret-files)|^dist\/.*secret[\w-]*\.js$/.test(name)),
  )
})

/** Returns the address that the Hub prints. Rejects with the output if the process ends before. */
async function addressIn(
  child: ChildProcessByStdio<null, Readable, Readable>,
  ended: Promise<unknown>,
  output: () => string,
): Promise<string> {
  const address = () => /^Hub: (\S+)$/m.exec(output())?.[1]
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  child.stdout.on('data', () => address() && resolve(address()!))
  ended.then(() => reject(new Error(output())))
  return promise
}

test('npx installs it, starts the Hub, and passes signals on', async () => {
  const home = join(folder, 'home')
  const empty = join(folder, 'empty')
  for (const path of [home, empty]) await mkdir(path)
  const cache = (await run('npm', ['config', 'get', 'cache'])).stdout.trim()
  const child = spawn(
    'npx',
    ['--yes', '--package', tarball, '--', 'org-memory-hub', 'start', '--port', '0', '--data-dir', join(folder, 'data')],
    {
      cwd: empty,
      env: {
        ...Object.fromEntries(
          Object.entries(process.env).filter(([name]) => !/^(HUB_|npm_|NODE_(ENV|OPTIONS|PATH)$|VITE)/.test(name)),
        ),
        npm_config_cache: cache,
        npm_config_prefer_offline: 'true',
        HUB_METRICS_PORT: 'off',
      },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const ended = once(child, 'close')
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
  try {
    const url = await addressIn(child, ended, () => output)
    expect(await (await fetch(`${url}/v1/health`)).json()).toMatchObject({ status: 'ok' })
    const page = await fetch(url, { headers: { accept: 'text/html' } })
    expect(page.status).toBe(200)
    // Nothing is written where it was started.
    expect(await readdir(empty)).toEqual([])
  } finally {
    if (child.exitCode === null) process.kill(-child.pid!, 'SIGTERM')
    await ended
  }
  expect(output).toContain('stopping')
})

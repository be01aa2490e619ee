import { type ChildProcess, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { execForm, readStages } from '../deploy/dockerfile.ts'
import { exampleSecrets } from '../deploy/settings.ts'
import { freePort } from '../support/free-port.ts'
import { buildImage, bytesOf, startInImage } from '../support/image-build.ts'

/** Unpacked, of debian:bookworm-slim for amd64 (74.8 MB) and libatomic1. */
const baseBytes = 75_000_000
const imageBytesMax = 350_000_000

let folder: string
let image: string
const running: ChildProcess[] = []
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hub-image-'))
  image = buildImage(folder)
})
afterEach(async () => {
  for (const child of running.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    child.kill('SIGKILL')
    await once(child, 'close')
  }
})
afterAll(() => rm(folder, { recursive: true, force: true }))

function start(options: Parameters<typeof startInImage>[1]): { child: ChildProcess; output: () => string } {
  const child = startInImage(image, options)
  running.push(child)
  let text = ''
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk) => (text += chunk))
  return { child, output: () => text }
}

async function settings(): Promise<Record<string, string>> {
  return {
    HUB_BASE_URL: 'https://hub.example.com',
    HUB_PORT: String(await freePort()),
    HUB_METRICS_PORT: String(await freePort()),
    HUB_MASTER_KEY: exampleSecrets['master-key']!,
    HUB_LOG_LEVEL: 'warn',
  }
}

async function volume(): Promise<string> {
  const made = await mkdtemp(join(folder, 'data-'))
  return made
}

test('the image is at most 350 MB, without packages for development and without those of the web UI', () => {
  const bytes = baseBytes + bytesOf(join(image, 'app'))
  console.log(
    `image: ${(bytes / 1e6).toFixed(0)} MB unpacked, ${(baseBytes / 1e6).toFixed(0)} MB of them the base image`,
  )
  expect(bytes).toBeLessThanOrEqual(imageBytesMax)
  for (const name of ['vitest', 'typescript', 'vite', 'react', '@mantine/core']) {
    expect(spawnSync('test', ['-e', join(image, 'app/node_modules', name)]).status, name).toBe(1)
  }
  // The user of the image owns its data directory only.
  const owned = spawnSync('find', [
    join(image, 'app'),
    '(',
    '-perm',
    '/022',
    '!',
    '-type',
    'l',
    '-o',
    '-uid',
    '10001',
    ')',
  ])
  expect(owned.stdout.toString()).toBe('')
})

test('it serves as its own user, on a read-only root with a volume, keeps its data, and stops by SIGTERM', async () => {
  const env = await settings()
  const data = await volume()
  const url = `http://127.0.0.1:${env.HUB_PORT}`
  for (const round of ['first', 'second']) {
    const { child, output } = start({ env, volume: data })
    const health = execForm(readStages().at(-1)!, 'HEALTHCHECK')
    await expect
      .poll(async () => {
        if (child.exitCode !== null) throw new Error(output())
        const check = start({ command: health, env })
        return (await once(check.child, 'close'))[0]
      })
      .toBe(0)
    expect(await (await fetch(`${url}/v1/health`)).json(), round).toMatchObject({ status: 'ok' })
    const page = await fetch(url, { headers: { accept: 'text/html' } })
    expect(page.status).toBe(200)
    const script = /src="(\/assets\/[^"]+)"/.exec(await page.text())?.[1]
    expect((await fetch(`${url}${script}`)).headers.get('content-type')).toContain('javascript')
    child.kill('SIGTERM')
    expect(await once(child, 'close'), output()).toEqual([0, null])
    expect(output()).not.toMatch(/EROFS|EACCES|read-only/)
  }
})

test('nothing but the volume and /tmp can be written', async () => {
  const data = await volume()
  const script =
    'id -u; for f in /app/x /x /app/node_modules/x /data/x /tmp/x; do touch $f 2>/dev/null && echo $f; done'
  const { child, output } = start({ command: ['/bin/sh', '-c', `${script}; true`], env: {}, volume: data })
  await once(child, 'close')
  expect(output()).toBe('10001\n/data/x\n/tmp/x\n')
})

test('an error of the settings is printed, and ends it', async () => {
  const { child, output } = start({ env: { HUB_LOG_LEVEL: 'warn' } })
  expect((await once(child, 'close'))[0]).not.toBe(0)
  expect(output()).toContain('HUB_BASE_URL is not set, and production has no default.')
  expect(output()).toContain('HUB_MASTER_KEY is not set')
})

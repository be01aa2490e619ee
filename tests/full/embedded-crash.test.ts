import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import {
  freshDataDirectory,
  isRunning,
  parentPid,
  removeDataDirectories,
  serverPid,
} from '../support/data-directory.ts'
import { type DatabaseProcess, endProcesses, openInProcess } from '../support/database-process.ts'

afterEach(async () => {
  await endProcesses()
  await removeDataDirectories()
})

async function serve(dataDir: string): Promise<DatabaseProcess> {
  const service = openInProcess({ purpose: 'serve', env: { HUB_DATA_DIR: dataDir } })
  await service.said('ready')
  return service
}

/** As a power cut would: the Hub, the watchdog and every process of the server at once. */
async function killEverything(service: DatabaseProcess, dataDir: string): Promise<void> {
  const server = await serverPid(dataDir)
  const watchdog = await parentPid(server)
  const all = await Promise.all(
    (await readdir('/proc'))
      .filter((name) => /^\d+$/.test(name))
      .map(async (pid) => ({
        pid: Number(pid),
        parent: await parentPid(Number(pid)).catch(() => 0),
      })),
  )
  const doomed = [watchdog, server, ...all.filter((each) => each.parent === server).map((each) => each.pid)]
  service.kill('SIGKILL')
  for (const pid of doomed) if (isRunning(pid)) process.kill(pid, 'SIGKILL')
  await service.ended
}

test('kill -9 of the process group: the server shuts down by itself, and what was written is there', async () => {
  const dataDir = await freshDataDirectory()
  const service = await serve(dataDir)
  const server = await serverPid(dataDir)
  expect(await service.ask('write acme')).toEqual({ write: 'ok' })
  service.kill('SIGKILL')
  await expect.poll(() => isRunning(server)).toBe(false)
  const next = await serve(dataDir)
  expect(await next.ask('read acme')).toEqual({ read: 1 })
})

test('kill -9 of the process group, and a start at once: it waits for the old server to go', async () => {
  const dataDir = await freshDataDirectory()
  const service = await serve(dataDir)
  await service.ask('write acme')
  service.kill('SIGKILL')
  expect(await (await serve(dataDir)).ask('read acme')).toEqual({ read: 1 })
})

test('kill -9 of everything: the next start recovers', async () => {
  const dataDir = await freshDataDirectory()
  const service = await serve(dataDir)
  await service.ask('write acme')
  await killEverything(service, dataDir)
  expect(await readdir(join(dataDir, 'pg'))).toContain('postmaster.pid')
  expect(await (await serve(dataDir)).ask('read acme')).toEqual({ read: 1 })
})

test('a stale pid file that names a living stranger does not stop a start', async () => {
  const dataDir = await freshDataDirectory()
  const service = await serve(dataDir)
  await service.ask('write acme')
  await killEverything(service, dataDir)
  for (const file of [join(dataDir, 'pg', 'postmaster.pid'), join(dataDir, 'run', '.s.PGSQL.5432.lock')]) {
    const stale = await readFile(file, 'utf8')
    await writeFile(file, stale.replace(/^\d+/, String(process.pid)))
  }
  expect(await (await serve(dataDir)).ask('read acme')).toEqual({ read: 1 })
})

test('kill -9 of the server: it is started again, and the pools recover by themselves', async () => {
  const dataDir = await freshDataDirectory()
  const service = await serve(dataDir)
  await service.ask('write acme')
  const server = await serverPid(dataDir)
  process.kill(server, 'SIGKILL')
  // Backends outlive it for a moment, so an answer alone proves nothing.
  await expect.poll(() => serverPid(dataDir).catch(() => server)).not.toBe(server)
  await expect.poll(() => service.ask('ping')).toEqual({ ping: 'ok' })
  expect(await service.ask('read acme')).toEqual({ read: 1 })
  const second = openInProcess({ purpose: 'serve', env: { HUB_DATA_DIR: dataDir } })
  expect((await second.said('failed')).failed).toContain(`process ${service.pid}`)
})

test('while the server is down, the database is hub-unavailable, and nothing else', async () => {
  const dataDir = await freshDataDirectory()
  const service = await serve(dataDir)
  const server = await serverPid(dataDir)
  process.kill(server, 'SIGKILL')
  const answers = new Set<unknown>()
  await expect
    .poll(
      async () => {
        answers.add((await service.ask('ping')).ping)
        return answers.has('hub-unavailable') && (await service.ask('ping')).ping === 'ok'
      },
      { interval: 5 },
    )
    .toBe(true)
  expect([...answers].every((answer) => answer === 'ok' || answer === 'hub-unavailable')).toBe(true)
})

test('a server whose starter and watchdog were killed is taken over', async () => {
  const dataDir = await freshDataDirectory()
  const service = await serve(dataDir)
  await service.ask('write acme')
  const server = await serverPid(dataDir)
  const watchdog = await parentPid(server)
  const watcher = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  for (const pid of watcher) {
    if (pid !== server && (await parentPid(pid).catch(() => 0)) === watchdog) process.kill(pid, 'SIGKILL')
  }
  process.kill(watchdog, 'SIGKILL')
  service.kill('SIGKILL')
  await service.ended
  expect(isRunning(server)).toBe(true)
  expect(await (await serve(dataDir)).ask('read acme')).toEqual({ read: 1 })
})

test('the watchdog killed under a living service: the server is replaced', async () => {
  const dataDir = await freshDataDirectory()
  const service = await serve(dataDir)
  const server = await serverPid(dataDir)
  process.kill(await parentPid(server), 'SIGKILL')
  await expect.poll(() => isRunning(server)).toBe(false)
  await expect.poll(() => service.ask('ping')).toEqual({ ping: 'ok' })
})

import { execFileSync } from 'node:child_process'
import { chmod, chown, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { copyCheckout } from '../support/checkout-copy.ts'
import { freshDataDirectory, removeDataDirectories, serverPid } from '../support/data-directory.ts'
import { endProcesses, openInProcess } from '../support/database-process.ts'

const root = process.getuid?.() === 0
/** `nobody`, where root tests what an ordinary user meets. */
const stranger = { uid: 65534, gid: 65534 }

afterEach(async () => {
  await endProcesses()
  await removeDataDirectories()
})

async function ownerOf(pid: number): Promise<number> {
  return (await stat(`/proc/${pid}`)).uid
}

test('from a checkout under a folder that only its owner may enter', async () => {
  const dataDir = await freshDataDirectory()
  const closed = await freshDataDirectory('closed folder')
  const checkout = join(closed, 'checkout')
  const node = await copyCheckout(checkout)
  await chmod(closed, 0o700)
  if (root) expect(() => execFileSync('/bin/ls', [checkout], { ...stranger, stdio: 'pipe' })).toThrow(/denied/)
  const service = openInProcess({ purpose: 'serve', env: { HUB_DATA_DIR: dataDir }, checkout, node })
  await service.said('ready')
  expect(await service.ask('write acme')).toEqual({ write: 'ok' })
  const server = await serverPid(dataDir)
  if (root) {
    expect(await ownerOf(server)).not.toBe(0)
    expect(await readFile(`/proc/${server}/cmdline`, 'utf8')).toMatch(/^\/var\/lib\/org-memory-hub\/postgresql-/)
    expect(await ownerOf(service.pid)).toBe(0)
  } else {
    expect(await ownerOf(server)).toBe(process.getuid?.())
  }
})

test('as an ordinary user, with the data directory in the checkout', async () => {
  const parent = await freshDataDirectory('home')
  const checkout = join(parent, 'my checkout')
  const node = await copyCheckout(checkout)
  if (root) await chown(checkout, stranger.uid, stranger.gid)
  await chmod(parent, 0o755)
  const service = openInProcess({
    purpose: 'serve',
    env: {},
    checkout,
    node,
    ...(root ? { user: stranger } : {}),
  })
  await service.said('ready')
  expect(await service.ask('write acme')).toEqual({ write: 'ok' })
  const dataDir = join(checkout, '.hub-data')
  expect(await ownerOf(await serverPid(dataDir))).toBe(root ? stranger.uid : process.getuid?.())
  expect((await stat(dataDir)).mode & 0o777).toBe(0o700)
  await service.ask('stop')
  expect(await service.ended).toBe(0)
})

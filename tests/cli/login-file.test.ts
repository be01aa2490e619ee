import { chmod, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { configFolder } from '../../cli/login/config-folder.ts'
import { LoginFile, type PersonLogin } from '../../cli/login/login-file.ts'

let base: string
let folder: string
let file: LoginFile
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'hub-login-'))
  folder = join(base, 'settings', 'org-memory-hub')
  file = new LoginFile(folder)
})
afterEach(() => rm(base, { recursive: true, force: true }))

const login: PersonLogin = {
  kind: 'person',
  version: 1,
  hub_url: 'https://hub.example.com',
  tenant: 'acme',
  client_id: 'hubc.x.y',
  access_token: 'a',
  refresh_token: 'r',
  renew_after_ms: 1,
  expires_at_ms: 2,
}
const store = () => file.exclusively(() => file.write(login))

test('the folder is where the operating system keeps settings', () => {
  expect(configFolder({}, 'linux', '/home/kim')).toBe('/home/kim/.config/org-memory-hub')
  expect(configFolder({ XDG_CONFIG_HOME: '/x' }, 'linux', '/home/kim')).toBe('/x/org-memory-hub')
  expect(configFolder({ XDG_CONFIG_HOME: 'x' }, 'linux', '/home/kim')).toBe('/home/kim/.config/org-memory-hub')
  expect(configFolder({}, 'darwin', '/Users/kim')).toBe('/Users/kim/Library/Application Support/org-memory-hub')
  expect(configFolder({ APPDATA: 'C:\\D' }, 'win32', 'C:\\kim')).toBe('C:\\D\\org-memory-hub')
  expect(configFolder({}, 'win32', 'C:\\kim')).toBe('C:\\kim\\AppData\\Roaming\\org-memory-hub')
})

test('a login is stored for its owner alone, replaced and removed', async () => {
  expect(await file.read()).toBeUndefined()
  await store()
  expect(await file.read()).toEqual(login)
  expect([(await stat(file.path)).mode & 0o777, (await stat(folder)).mode & 0o777]).toEqual([0o600, 0o700])
  await file.exclusively(() => file.write({ ...login, access_token: 'b' }))
  expect(await file.read()).toMatchObject({ access_token: 'b' })
  expect((await readdir(folder)).sort()).toEqual(['login.json', 'login.lock'])
  await file.exclusively(() => file.remove())
  expect(await file.read()).toBeUndefined()
})

test('a file that others may read, a folder that they may change, and a link are refused', async () => {
  await store()
  for (const mode of [0o640, 0o604, 0o620]) {
    await chmod(file.path, mode)
    await expect(file.read()).rejects.toThrow('Other users may read')
  }
  await chmod(file.path, 0o600)
  await chmod(folder, 0o770)
  await expect(file.read()).rejects.toThrow('Other users may change')
  await chmod(folder, 0o700)
  await rm(file.path)
  await symlink('/etc/hostname', file.path)
  await expect(file.read()).rejects.toThrow('it is a link')
})

test.each(['', '{', '{}', '[]', '{"kind":"person","version":2}'])('content %j is refused', async (text) => {
  await store()
  await writeFile(file.path, text)
  await expect(file.read()).rejects.toMatchObject({
    name: 'NotSignedInError',
    message: expect.stringContaining('is not a stored login'),
  })
})

test('work under the lock does not overlap', async () => {
  const order: string[] = []
  const turn = (name: string) =>
    new LoginFile(folder).exclusively(async () => {
      order.push(`${name} begins`)
      await new Promise((resolve) => setImmediate(resolve))
      order.push(`${name} ends`)
    })
  await Promise.all([turn('a'), turn('b'), turn('c')])
  for (let at = 0; at < order.length; at += 2) {
    expect(order[at + 1]).toBe(order[at]!.replace('begins', 'ends'))
  }
  expect(order).toHaveLength(6)
})

import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DemoReport } from '../../cli/demo/report.ts'
import { scopeNames } from '../../contract/scopes.ts'
import { runCli } from '../cli/run-cli.ts'
import { freshDataDirectory, removeDataDirectories } from '../support/data-directory.ts'
import { freePort } from '../support/free-port.ts'
import { type HubProcess, makeTenant, startHubProcess } from '../support/hub-process.ts'

/** Which Hub `hub demo` loads into, and what it prints if that Hub is not there or refuses it. */

let hub: HubProcess
let account: Record<string, string>
let narrow: Record<string, string>

beforeAll(async () => {
  const dataDir = await freshDataDirectory()
  hub = await startHubProcess(dataDir)
  const settingsOf = async (slug: string, scope: string) => {
    const { tenant, clientId, clientSecret } = await makeTenant(dataDir, slug, scope)
    return { HUB_URL: hub.url, HUB_TENANT: tenant, HUB_CLIENT_ID: clientId, HUB_CLIENT_SECRET: clientSecret }
  }
  account = await settingsOf('elsewhere', scopeNames.join(' '))
  narrow = await settingsOf('narrow', 'hub:read hub:write')
})
afterAll(async () => {
  await hub.stop()
  await removeDataDirectories()
})

async function failureOf(env: Record<string, string>): Promise<string> {
  const { code, stdout, stderr } = await runCli(['demo'], env)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  return stderr
}

test('without a running Hub it says so first, loads, and prints no address that ends with it', async () => {
  const [port, dataDir] = [await freePort(), await freshDataDirectory()]
  const settings = { HUB_PORT: String(port), HUB_DATA_DIR: dataDir }
  const { code, stdout, stderr } = await runCli(['demo'], settings)
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
  expect(stderr).toMatch(new RegExp(`^No Hub answers at http://127\\.0\\.0\\.1:${port}.*HUB_PORT, HUB_DATA_DIR`))
  expect(stdout).toContain('19,366 written')
  expect(stdout).not.toMatch(/https?:/)
  expect(stdout.trimEnd().split('\n').at(-1)).toBe(
    `Start the Hub to look at it: HUB_DATA_DIR=${dataDir} HUB_PORT=${port} npm start`,
  )

  const repeated = await runCli(['demo', '--json'], settings)
  const report = JSON.parse(repeated.stdout) as DemoReport
  expect(report).toMatchObject({ base_url: null, events: { written: 0, found: 19_366 } })
  expect(report.look_at.map(({ url }) => url[0])).toEqual(report.look_at.map(() => '/'))
})

test('another program at the address: says which settings name the Hub, and opens no database', async () => {
  const server = createServer((_request, response) => response.end('{"status":"ok"}')).listen(0, '127.0.0.1')
  const { port } = await new Promise<AddressInfo>((done) => {
    server.once('listening', () => done(server.address() as AddressInfo))
  })
  const dataDir = join(await freshDataDirectory(), 'unused')
  const stderr = await failureOf({ HUB_PORT: String(port), HUB_DATA_DIR: dataDir })
  server.close()
  expect(stderr).toContain(`The program that answers at http://127.0.0.1:${port} is not a Hub.`)
  expect(stderr).toContain('Set HUB_PORT')
  expect(existsSync(dataDir)).toBe(false)
})

test('a Hub of another data directory: says which settings differ, and writes nothing there', async () => {
  const empty = await freshDataDirectory()
  mkdirSync(empty)
  const missing = join(empty, 'missing')
  for (const dataDir of [empty, missing]) {
    const stderr = await failureOf({ HUB_PORT: new URL(hub.url).port, HUB_DATA_DIR: dataDir })
    expect(stderr).toContain(`A Hub answers at ${hub.url}, and it does not use the data directory`)
    for (const name of ['HUB_DATA_DIR', 'HUB_PORT', 'HUB_URL']) expect(stderr).toContain(name)
  }
  expect(readdirSync(empty)).toEqual([])
})

test('a Hub of another data directory at HUB_BASE_URL while one runs on this: says which settings differ', async () => {
  const dataDir = await freshDataDirectory()
  const own = await startHubProcess(dataDir)
  const stderr = await failureOf({ HUB_BASE_URL: hub.url, HUB_DATA_DIR: dataDir }).finally(own.stop)
  expect(stderr).toContain(`The Hub at ${hub.url} does not know the service account`)
  for (const name of ['HUB_DATA_DIR', 'HUB_DATABASE_URL', 'HUB_PORT', 'HUB_BASE_URL', 'HUB_URL']) {
    expect(stderr).toContain(name)
  }
})

describe('a Hub elsewhere', () => {
  test('is loaded into without a database here', async () => {
    const dataDir = join(await freshDataDirectory(), 'unused')
    const { code, stdout, stderr } = await runCli(['demo', '--json'], { ...account, HUB_DATA_DIR: dataDir })
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
    const report = JSON.parse(stdout) as DemoReport
    expect(report).toMatchObject({ tenant: 'elsewhere', base_url: hub.url, client_id: account.HUB_CLIENT_ID })
    expect(report).toMatchObject({ events: { written: 19_366, found: 0 }, people: { written: 120, found: 0 } })
    for (const { url } of report.look_at) expect((await fetch(url)).status).toBe(200)
    expect(existsSync(dataDir)).toBe(false)
  })

  test.each([
    ['a missing secret', { HUB_CLIENT_SECRET: '', HUB_TENANT: '' }, 'HUB_TENANT, HUB_CLIENT_SECRET are not'],
    ['no address', { HUB_URL: 'hub.example' }, 'HUB_URL is not an address: hub.example'],
    ['an address without TLS', { HUB_URL: 'http://hub.example' }, 'the secret would cross the network in clear'],
    ['an address without a Hub', { HUB_URL: 'http://127.0.0.1:9' }, 'Set HUB_URL to the address of a running Hub'],
    ['a wrong secret', { HUB_CLIENT_SECRET: 'x'.repeat(43) }, 'Set HUB_CLIENT_ID and HUB_CLIENT_SECRET'],
    ['a wrong tenant', { HUB_TENANT: 'demo' }, 'Set HUB_TENANT to the tenant of the service account'],
  ])('%s: names the variable', async (_, wrong, told) => {
    expect(await failureOf({ ...account, ...wrong })).toContain(told)
  })

  test('an account without all scopes: says so before it writes', async () => {
    expect(await failureOf(narrow)).toContain('service account with all scopes')
  })
})

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCli } from '../cli/run-cli.ts'
import { startHub, type TestHub } from '../support/hub.ts'

let hub: TestHub
let env: Record<string, string>
beforeAll(async () => {
  hub = await startHub()
  env = {
    HUB_DATABASE_URL: hub.test.url,
    HUB_MASTER_KEY: hub.test.masterKey.toString('base64'),
    HUB_DATA_DIR: await mkdtemp(join(tmpdir(), 'hub-cli-')),
    HUB_BASE_URL: hub.baseUrl,
  }
})
afterAll(async () => {
  await hub.stop()
  await rm(env.HUB_DATA_DIR ?? '', { recursive: true, force: true })
})

const rotate = (...args: string[]) => runCli(['keys', 'rotate', ...args], env)
const published = async (): Promise<string[]> => {
  const { body } = await hub.call('acme', 'GET', '/.well-known/jwks.json', { token: null })
  return body.keys.map((key: { kid: string }) => key.kid)
}

test('beside a service, which publishes the key within seconds and goes on with the old one', {
  timeout: 60_000,
}, async () => {
  const [old] = await published()
  const { code, stdout, stderr } = await rotate('--algorithm', 'RS256', '--json')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const rotation = JSON.parse(stdout)
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
  expect(rotation).toEqual({
    key_id: expect.stringMatching(/^[\w-]{43}$/),
    algorithm: 'RS256',
    signs_from: time,
    retired: [{ key_id: old, algorithm: 'ES256', signs_until: rotation.signs_from, verifies_until: time }],
  })
  const delayMs = Date.parse(rotation.signs_from) - Date.now()
  expect(delayMs).toBeGreaterThan(30_000)
  expect(delayMs).toBeLessThanOrEqual(60_000)
  await expect.poll(published, { timeout: 6_000, interval: 50 }).toEqual([old, rotation.key_id])
  expect(hub.modules.keys.tokens.signingKey().keyId).toBe(old)
})

test('for people, and as the key before it where no algorithm is named', { timeout: 60_000 }, async () => {
  const [, before] = await published()
  const { code, stdout } = await rotate()
  expect(code).toBe(0)
  expect(stdout).toMatch(/^Token key [\w-]{43} \(RS256\) signs from \S+Z on\.$/m)
  expect(stdout).toContain(`${before} (RS256) signs until then, and verifies until `)
})

test('an algorithm that tokens cannot have is refused, and changes nothing', { timeout: 60_000 }, async () => {
  const before = await published()
  for (const algorithm of ['HS256', 'none', 'EdDSA']) {
    const { code, stderr } = await rotate('--algorithm', algorithm)
    expect(code).toBe(2)
    expect(stderr).toContain('Allowed choices are ES256, RS256')
  }
  await hub.modules.keys.tokens.refresh()
  expect((await published()).slice(0, before.length)).toEqual(before)
})

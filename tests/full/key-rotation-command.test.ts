import { expect, test } from 'vitest'
import { cliHubOfFile } from '../cli/cli-hub.ts'
import { runCli } from '../cli/run-cli.ts'

const lab = cliHubOfFile()

const rotate = (...args: string[]) => runCli(['keys', 'rotate', ...args], lab.env)
const published = async (): Promise<string[]> => {
  const { body } = await lab.hub.call('acme', 'GET', '/.well-known/jwks.json', { token: null })
  return body.keys.map((key: { kid: string }) => key.kid)
}

test('beside a service, which publishes the key within seconds and goes on with the old one', async () => {
  const [old] = await published()
  const beganMs = Date.now()
  const { code, stdout, stderr } = await rotate('--algorithm', 'RS256', '--json')
  const endedMs = Date.now()
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const rotation = JSON.parse(stdout)
  const keyId = expect.stringMatching(/^[0-9a-f]{32}$/)
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
  expect(rotation).toEqual({
    key_id: expect.stringMatching(/^[\w-]{43}$/),
    algorithm: 'RS256',
    signs_from: time,
    retired: [{ key_id: old, algorithm: 'ES256', signs_until: rotation.signs_from, verifies_until: time }],
    provenance: ['acme', 'cmode', 'globex'].map((tenant) => ({ tenant, key_id: keyId, retired_key_id: keyId })),
  })
  // A minute after it was made.
  expect(Date.parse(rotation.signs_from)).toBeGreaterThanOrEqual(beganMs + 60_000)
  expect(Date.parse(rotation.signs_from)).toBeLessThanOrEqual(endedMs + 60_000)
  await expect.poll(published, { interval: 50 }).toEqual([old, rotation.key_id])
  expect(lab.hub.modules.keys.tokens.signingKey().keyId).toBe(old)
})

test('for people, and as the key before it where no algorithm is named', async () => {
  const [, before] = await published()
  const { code, stdout } = await rotate()
  expect(code).toBe(0)
  expect(stdout).toMatch(/^Token key [\w-]{43} \(RS256\) signs from \S+Z on\.$/m)
  expect(stdout).toContain(`${before} (RS256) signs until then, and verifies until `)
})

test('an algorithm that tokens cannot have is refused, and changes nothing', async () => {
  const before = await published()
  for (const algorithm of ['HS256', 'none', 'EdDSA']) {
    const { code, stderr } = await rotate('--algorithm', algorithm)
    expect(code).toBe(2)
    expect(stderr).toContain('Allowed choices are ES256, RS256')
  }
  await lab.hub.modules.keys.tokens.refresh()
  expect((await published()).slice(0, before.length)).toEqual(before)
})

test('one kind of key only, or the key of one tenant', async () => {
  const tokens = await published()
  const token = JSON.parse((await rotate('--only', 'token', '--json')).stdout)
  expect(Object.keys(token)).toEqual(['key_id', 'algorithm', 'signs_from', 'retired'])
  const { provenance, ...more } = JSON.parse((await rotate('--only', 'provenance', '--json')).stdout)
  expect([provenance.length, more]).toEqual([3, {}])
  const one = await rotate('--tenant', 'globex', '--json')
  const { keyId } = await lab.hub.modules.keys.provenance.signerOf('globex')
  const before = provenance.find((each: { tenant: string }) => each.tenant === 'globex')
  expect(JSON.parse(one.stdout)).toEqual({
    provenance: [{ tenant: 'globex', key_id: expect.not.stringMatching(keyId), retired_key_id: before.key_id }],
  })
  await lab.hub.modules.keys.tokens.refresh()
  expect(await published()).toHaveLength(tokens.length + 1)
})

test('options that contradict one another, and a tenant that does not exist, change nothing', async () => {
  const before = await lab.hub.call('acme', 'GET', '/.well-known/provenance-keys.json', { token: null })
  for (const [args, code, why] of [
    [['--tenant', 'acme', '--only', 'token'], 2, 'common to all tenants'],
    [['--tenant', 'acme', '--algorithm', 'RS256'], 2, 'for token keys'],
    [['--only', 'provenance', '--algorithm', 'RS256'], 2, 'for token keys'],
    [['--only', 'both'], 2, 'Allowed choices are token, provenance'],
    [['--tenant', 'nobody'], 1, 'There is no tenant "nobody"'],
  ] as const) {
    const answer = await rotate(...args)
    expect([answer.code, answer.stdout], args.join(' ')).toEqual([code, ''])
    expect(answer.stderr).toContain(why)
  }
  const after = await lab.hub.call('acme', 'GET', '/.well-known/provenance-keys.json', { token: null })
  expect(after.text).toBe(before.text)
})

import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loginPath, type OidcLab, startOidcLab } from './oidc-lab.ts'
import { compareTimes, type Probe } from './timing.ts'

/**
 * Nobody learns by the time of an answer which tenants there are. The threshold is that of token-timing.test.ts; before
 * unknown tenants were looked up as known ones are, the times differed by a factor of three.
 */
const threshold = 0.1
const measurement = { control: 'another unknown tenant', noiseMax: 0.03, threshold, roundsMax: 2_000 } as const

let lab: OidcLab
beforeAll(async () => {
  lab = await startOidcLab({ hub: { limitFactor: 1_000_000 } })
})
afterAll(() => lab.close())

// Made beforehand, for making one takes a while too. No name is asked for twice: none is remembered.
const unknownTenants = Array.from({ length: 20_000 }, () => `t${randomBytes(8).toString('hex')}`)
const unknownTenant = () => unknownTenants.pop() ?? ''
const token = 'A'.repeat(43)

/** Past the network. */
async function ask(url: string, status: number): Promise<void> {
  const { statusCode } = await lab.hub.app.inject({ method: 'GET', url, headers: { host: '127.0.0.1' } })
  expect(statusCode).toBe(status)
}

async function expectSameTimes(probe: (tenant: string) => Promise<void>): Promise<void> {
  const unknown: Probe = () => probe(unknownTenant())
  const { differences, baseMs, rounds } = await compareTimes(
    {
      'unknown tenant': unknown,
      'another unknown tenant': unknown,
      'a tenant': () => probe('globex'),
      'another tenant': () => probe('cmode'),
    },
    measurement,
  )
  const beyond = Object.entries(differences).filter(([, difference]) => Math.abs(difference) >= threshold)
  expect(beyond, `of ${baseMs.toFixed(2)} ms, after ${rounds} rounds`).toEqual([])
}

test('a made-up link takes as long in a tenant that does not exist', () =>
  expectSameTimes((tenant) => ask(`/sign-in/link/${tenant}/${token}`, 404)))

test('a login takes as long in a tenant that does not exist as in one without a provider', () =>
  expectSameTimes((tenant) => ask(`${loginPath}?tenant=${tenant}`, 403)))

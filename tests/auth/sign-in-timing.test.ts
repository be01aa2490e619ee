import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loginPath, type OidcLab, startOidcLab } from './oidc-lab.ts'
import { workOf } from './work.ts'

/** Nobody learns by the time of an answer which tenants there are: it takes the same work either way. */

const statements: string[] = []
let lab: OidcLab
beforeAll(async () => {
  lab = await startOidcLab({ hub: { limitFactor: 1_000_000, onQuery: (text) => void statements.push(text) } })
})
afterAll(() => lab.close())

const work = (ask: () => Promise<void>) => workOf(statements, ask, () => lab.hub.modules.denials.settled())

// No name is asked for twice: none is remembered.
const unknownTenant = () => `t${randomBytes(8).toString('hex')}`
const token = 'A'.repeat(43)

/** Past the network. */
async function ask(url: string, status: number): Promise<void> {
  const { statusCode } = await lab.hub.app.inject({ method: 'GET', url, headers: { host: '127.0.0.1' } })
  expect(statusCode).toBe(status)
}

async function expectSameWork(probe: (tenant: string) => Promise<void>): Promise<void> {
  const expected = await work(() => probe(unknownTenant()))
  expect(expected.statements.length).toBeGreaterThan(0)
  for (const tenant of [unknownTenant(), 'globex', 'cmode', 'globex']) {
    expect([tenant, await work(() => probe(tenant))]).toEqual([tenant, expected])
  }
}

test('a made-up link takes the same work in a tenant that does not exist', () =>
  expectSameWork((tenant) => ask(`/sign-in/link/${tenant}/${token}`, 404)))

test('a login takes the same work in a tenant that does not exist as in one without a provider', () =>
  expectSameWork((tenant) => ask(`${loginPath}?tenant=${tenant}`, 403)))

import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { credentialsOf } from '../../server/modules/auth/service-accounts/service-accounts-store.ts'
import { type AuthHub, startAuthHub } from './auth-hub.ts'
import { workOf } from './work.ts'

/**
 * Attack 15: a refused token request takes the same work whatever is wrong with it, so that its time tells nothing.
 * `npm run bench:refusals` takes the times.
 */

const statements: string[] = []
let hub: AuthHub
beforeAll(async () => {
  hub = await startAuthHub({ limitFactor: 100_000, onQuery: (text) => void statements.push(text) })
})
afterAll(() => hub.close())

/** Sends a token request that must be refused, past the network. */
async function refused(client_id: string, client_secret: string): Promise<void> {
  const { statusCode } = await hub.hub.app.inject({
    method: 'POST',
    url: '/api/v1/oauth/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded', host: '127.0.0.1' },
    payload: `grant_type=client_credentials&client_id=${client_id}&client_secret=${client_secret}`,
  })
  expect(statusCode).toBe(401)
}

const work = (ask: () => Promise<void>) => workOf(statements, ask, () => hub.hub.modules.denials.settled())

const wrongSecret = `hubs${'x'.repeat(44)}`
const unknown = () => refused(`sa${randomBytes(12).toString('hex')}`, wrongSecret)

async function account() {
  const { client_id, client_secret } = await hub.account('acme', ['hub:read'])
  return { client_id, client_secret, path: `/api/v1/service-accounts/${client_id}` }
}

test('unknown, wrong, disabled and expired take the same statements, hashes and comparisons', async () => {
  const [inUse, near, disabled, expired] = [await account(), await account(), await account(), await account()]
  await hub.requestToken({ client_id: inUse.client_id, client_secret: inUse.client_secret })
  await hub.call('acme', 'DELETE', disabled.path)
  const superuser = await hub.hub.superuserClient()
  const past = `update hub.service_accounts set expires_at = now() - interval '1 minute' where client_id = $1`
  await superuser.query(past, [expired.client_id])
  await hub.hub.test.proveRows()
  const causes = {
    'another unknown id': unknown,
    'wrong secret of an account in use': () => refused(inUse.client_id, wrongSecret),
    'wrong secret near the right one': () => refused(near.client_id, `${near.client_secret.slice(0, -1)}_`),
    'right secret of a disabled account': () => refused(disabled.client_id, disabled.client_secret),
    'right secret of an expired account': () => refused(expired.client_id, expired.client_secret),
  }
  const expected = await work(unknown)
  expect([expected.statements.length, expected.hashes, expected.comparisons]).not.toContain(0)
  for (const [cause, ask] of Object.entries(causes)) {
    expect([cause, await work(ask)]).toEqual([cause, expected])
  }
})

test('the same count finds a look-up for known accounts only', async () => {
  const { client_id } = await account()
  const leaky = async () => {
    await hub.hub.test.database.withTenant('acme', (tx) => credentialsOf(tx, client_id), { readOnly: true })
    await refused(client_id, wrongSecret)
  }
  expect(await work(leaky)).not.toEqual(await work(unknown))
})

import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { credentialsOf } from '../../server/modules/auth/service-accounts/service-accounts-store.ts'
import { type AuthHub, startAuthHub } from './auth-hub.ts'
import { compareTimes, type Probe, spin } from './timing.ts'

/**
 * Attack 15: a refused token request takes as long whatever is wrong with it. By this share of a request two causes
 * may differ. What one would leak by is larger: a look-up that only known accounts need is a fifth of a request or
 * more, a slow hash for them alone is several. And a tenth is less than 0.1 ms here, which a network hides: strangers
 * made out 0.1 ms over the Internet at best (Crosby and others), with a thousand requests, where 10 a minute are
 * answered. The causes that are measured here differ by 1 to 2 hundredths on a quiet machine.
 */
const threshold = 0.1
const measurement = { control: 'another unknown id', noiseMax: 0.03 } as const

let hub: AuthHub
beforeAll(async () => {
  hub = await startAuthHub({ limitFactor: 100_000 })
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

const wrongSecret = `hubs${'x'.repeat(44)}`
// Made beforehand, for making one takes a while too.
const unknownIds = Array.from({ length: 20_000 }, () => `sa${randomBytes(12).toString('hex')}`)
const unknown: Probe = () => refused(unknownIds.pop() ?? '', wrongSecret)

async function account() {
  const { client_id, client_secret } = await hub.account('acme', ['hub:read'])
  return { client_id, client_secret, path: `/api/v1/service-accounts/${client_id}` }
}

test('unknown, wrong, disabled and expired take the same time', async () => {
  const [inUse, near, disabled, expired] = [await account(), await account(), await account(), await account()]
  await hub.requestToken({ client_id: inUse.client_id, client_secret: inUse.client_secret })
  await hub.call('acme', 'DELETE', disabled.path)
  const superuser = await hub.hub.superuserClient()
  const past = `update hub.service_accounts set expires_at = now() - interval '1 minute' where client_id = $1`
  await superuser.query(past, [expired.client_id])

  const { differences, baseMs, rounds } = await compareTimes(
    {
      'unknown id': unknown,
      'another unknown id': unknown,
      'wrong secret of an account in use': () => refused(inUse.client_id, wrongSecret),
      'wrong secret near the right one': () => refused(near.client_id, `${near.client_secret.slice(0, -1)}_`),
      'right secret of a disabled account': () => refused(disabled.client_id, disabled.client_secret),
      'right secret of an expired account': () => refused(expired.client_id, expired.client_secret),
    },
    { ...measurement, threshold, roundsMax: 2_000 },
  )
  const beyond = Object.entries(differences).filter(([, difference]) => Math.abs(difference) >= threshold)
  expect(beyond, `of ${baseMs.toFixed(2)} ms, after ${rounds} rounds`).toEqual([])
})

test('the same measurement finds a leak', async () => {
  const { client_id } = await account()
  const same = { 'unknown id': unknown, 'another unknown id': unknown }
  const { baseMs } = await compareTimes(same, { ...measurement, roundsMax: 500 })
  const leaky = {
    'a look-up for known accounts only': async () => {
      await hub.hub.test.database.withTenant('acme', (tx) => credentialsOf(tx, client_id), { readOnly: true })
      await refused(client_id, wrongSecret)
    },
    'a quarter of a request for known accounts only': () => {
      spin(baseMs / 4)
      return refused(client_id, wrongSecret)
    },
  }
  const { differences } = await compareTimes({ ...same, ...leaky }, { ...measurement, roundsMax: 1_000 })
  expect(Math.abs(differences['another unknown id'])).toBeLessThan(threshold)
  for (const name of Object.keys(leaky) as (keyof typeof leaky)[]) {
    expect(differences[name], name).toBeGreaterThan(threshold)
  }
})

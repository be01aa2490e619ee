import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { scopeNames } from '../../contract/scopes.ts'
import type { ServiceAccountCredentials } from '../../server/modules/auth/auth-types.ts'
import type { TokenKeyRotation } from '../../server/modules/keys/keys-types.ts'
import { freshDataDirectory, removeDataDirectories } from '../support/data-directory.ts'
import { type HubProcess, hubCommand, startHubProcess } from '../support/hub-process.ts'
import { scaled } from '../support/machine-speed.ts'

/** `hub serve --workers 2`: real processes, each with a memory of its own. */

/** Within which every process knows. */
const promisedMs = 5_000

let dataDir: string
let hub: HubProcess
beforeAll(async () => {
  dataDir = await freshDataDirectory()
  hub = await startHubProcess(dataDir, { HUB_WORKERS: '2', HUB_LIMIT_FACTOR: '1000' })
  await hubCommand(dataDir, 'tenant', 'create', 'acme', '--mode', 'A', '--admin-email', 'admin@acme.example')
})
afterAll(async () => {
  await hub.stop()
  await removeDataDirectories()
})

/** On a connection of its own each time, so that either worker may get it. */
async function ask(method: string, path: string, token?: string): Promise<{ status: number; text: string }> {
  const headers = { ...(token && { authorization: `Bearer ${token}` }), 'x-service-tenant': 'acme' }
  const sent = request(`${hub.url}${path}`, { method, agent: new Agent({ keepAlive: false }), headers }).end()
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  return { status: answer.statusCode ?? 0, text: await text(answer) }
}

const use = async (token: string) => (await ask('GET', '/api/v1/hub/records', token)).status
const together = (token: string) => Promise.all(Array.from({ length: 20 }, () => use(token)))

async function newAccount(name: string) {
  const account = await hubCommand<ServiceAccountCredentials>(
    dataDir,
    ...['service-account', 'create', '--tenant', 'acme', '--name', name, '--scope', scopeNames.join(' ')],
  )
  const { client_id, client_secret } = account
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
  const answer = await fetch(`${hub.url}/api/v1/oauth/token`, { method: 'POST', body })
  return { clientId: client_id, token: ((await answer.json()) as { access_token: string }).access_token }
}

test('a disabled account is refused by every worker within five seconds', async () => {
  const admin = await newAccount('admin')
  const victim = await newAccount('victim')
  expect(new Set(await together(victim.token))).toEqual(new Set([200]))
  expect((await ask('DELETE', `/api/v1/service-accounts/${victim.clientId}`, admin.token)).status).toBe(200)
  await expect.poll(() => together(victim.token), { timeout: scaled(promisedMs) }).toEqual(Array(20).fill(401))
  expect(new Set(await together(admin.token))).toEqual(new Set([200]))
})

test('every worker publishes a rotated key within seconds, and takes the tokens of before', async () => {
  const { token } = await newAccount('before')
  const { key_id } = await hubCommand<TokenKeyRotation>(dataDir, 'keys', 'rotate')
  const published = async () => (await ask('GET', '/.well-known/jwks.json')).text.includes(key_id)
  const byAll = async () => (await Promise.all(Array.from({ length: 20 }, published))).every(Boolean)
  await expect.poll(byAll, { timeout: scaled(promisedMs) }).toBe(true)
  expect(new Set(await together(token))).toEqual(new Set([200]))
})

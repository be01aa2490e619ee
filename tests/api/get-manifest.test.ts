import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { parseKeyDocument, verifySkillManifestSync } from '../../provenance/index.ts'
import { nodeCrypto } from '../../server/records/node-crypto.ts'
import {
  connectorsPath,
  manifestPath,
  must,
  publishSkill,
  pushBody,
  startConnectorHub,
} from '../connectors/connector-lab.ts'
import { tokenOfPerson } from '../roster/roster-lab.ts'
import { runNode } from '../sdk/run-node.ts'
import type { TestHub } from '../support/hub.ts'
import { snippetsOf } from '../support/page-snippets.ts'
import { accessCases, pointersOf, slugOf } from './connector-cases.ts'

let hub: TestHub
let id: string
let logName: string
beforeAll(async () => {
  hub = await startConnectorHub()
  const body = { platform: 'chatgpt', display_name: 'Pulls', delivery: 'pull' }
  for (const tenant of ['acme', 'cmode'] as const) await publishSkill(hub, tenant, { skill_id: 'sum-up' })
  const created = await must(hub, 'acme', 'POST', connectorsPath, { body })
  id = created.body.connector_id
  logName = created.body.log_name
})
afterAll(() => hub.stop())

const fetchIt = (headers = {}, connector = id) =>
  hub.call('acme', 'GET', `${manifestPath}?connector_id=${connector}`, { headers })
const healthOf = async (connector = id) =>
  (await must(hub, 'acme', 'GET', `${connectorsPath}/${connector}`)).body.health

test('is signed by a published key of the tenant, and counts as a publish', async () => {
  expect((await healthOf()).status).toBe('waiting')
  const { status, body, headers } = await fetchIt()
  expect([status, body]).toMatchObject([
    200,
    { version: 1, tenant: 'acme', connector_id: id, platform: 'chatgpt', skills: [{ skill_id: 'sum-up' }] },
  ])
  const document = (await hub.call('acme', 'GET', '/.well-known/provenance-keys.json')).body
  const keys = parseKeyDocument(document, nodeCrypto.sha256)
  expect(logName).toBe((await hub.tenant('acme')).logName)
  expect(verifySkillManifestSync(body, keys, nodeCrypto, { logName, connectorId: id })).toMatchObject({
    verified: true,
  })
  expect(await healthOf()).toMatchObject({ status: 'ok', etag: headers.etag, last_publish_at: expect.any(String) })
})

test('is 304 while the skills are the same, which counts too, and new once they change', async () => {
  const { etag } = (await fetchIt()).headers
  const before = (await healthOf()).last_publish_at
  for (const tag of [String(etag), `"other", ${etag}`, String(etag).replace('W/', ''), '*']) {
    const same = await fetchIt({ 'if-none-match': tag })
    expect([same.status, same.text, same.headers.etag]).toEqual([304, '', etag])
  }
  expect((await healthOf()).last_publish_at > before).toBe(true)
  await publishSkill(hub, 'acme', { skill_id: 'translate' })
  const changed = await fetchIt({ 'if-none-match': String(etag) })
  expect([changed.status, changed.body.skills.length]).toEqual([200, 2])
  expect(changed.headers.etag).not.toBe(etag)
})

test('of a person is the same manifest, and no publish: health tells of connectors', async () => {
  const connector = { platform: 'gemini', display_name: 'Nobody fetches', delivery: 'pull' }
  const made = (await must(hub, 'acme', 'POST', connectorsPath, { body: connector })).body.connector_id
  const person = { email: 'kim@acme.example', role: 'admin' }
  const { user_id } = (await must(hub, 'acme', 'POST', '/api/v1/roster/users', { body: person })).body
  const token = await tokenOfPerson(hub, 'acme', user_id)
  const path = `${manifestPath}?connector_id=${made}`
  const { etag } = (await must(hub, 'acme', 'GET', path, { token })).headers
  const same = await hub.call('acme', 'GET', path, { token, headers: { 'if-none-match': String(etag) } })
  expect([same.status, (await healthOf(made)).status]).toEqual([304, 'waiting'])
  await must(hub, 'acme', 'GET', path, { scopes: ['skill_entitlement:read'] })
  expect((await healthOf(made)).status).toBe('ok')
})

test('docs/receive-skills.md shows its members, and code that verifies it and rejects an altered one', async () => {
  const [example, verifier] = snippetsOf('docs/receive-skills.md')
  const { body } = await fetchIt()
  const membersOf = (manifest: { skills: object[] }) =>
    [manifest, ...manifest.skills].map((one) => Object.keys(one).sort())
  expect(membersOf(JSON.parse(example!.code))).toEqual(membersOf({ ...body, skills: body.skills.slice(0, 1) }))
  const page = snippetsOf('docs/verification.md').find(({ code }) => code.includes('verifyRecordsSync('))!.code
  // The page refers to this object.
  const [crypto] = /^const crypto[\s\S]*?^}$/m.exec(page)!
  const folder = await mkdtemp(join(tmpdir(), 'hub-manifest-page-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await symlink(resolve(import.meta.dirname, '../../provenance'), join(folder, 'provenance'))
  const file = join(folder, 'page.mts')
  const given = `const { HUB, logName, connectorId, manifest } = JSON.parse(process.env.GIVEN ?? '')`
  const imports = `import { createPublicKey, hash, verify } from 'node:crypto'`
  await writeFile(file, [imports, crypto, given, verifier!.code, 'console.log(result)'].join('\n'))
  const run = (manifest: object) =>
    runNode([file], { GIVEN: JSON.stringify({ HUB: hub.baseUrl, logName, connectorId: id, manifest }) })
  expect((await run(body)).stdout).toContain('verified: true')
  await expect(run({ ...body, skills: [] })).rejects.toThrow('Not a manifest of ours: ')
})

test('of one that is pushed to may be fetched, and is no publish', async () => {
  const { body } = await must(hub, 'acme', 'POST', connectorsPath, { body: pushBody('http://127.0.0.1:9/') })
  expect((await fetchIt({}, body.connector_id)).status).toBe(200)
  expect((await healthOf(body.connector_id)).status).toBe('waiting')
})

test('of a tenant of Mode C has no content', async () => {
  const connector = { platform: 'chatgpt', display_name: 'Pulls', delivery: 'pull' }
  const { body } = await must(hub, 'cmode', 'POST', connectorsPath, { body: connector })
  const manifest = await must(hub, 'cmode', 'GET', `${manifestPath}?connector_id=${body.connector_id}`)
  expect(Object.keys(manifest.body.skills[0]).sort()).toEqual([
    'archetype_ids',
    'name',
    'provenance_hash',
    'record_id',
    'skill_id',
    'skill_version',
  ])
})

test('one of the two scopes is enough', async () => {
  for (const scope of ['skill_entitlement:read', 'connector:admin'] as const) {
    const path = `${manifestPath}?connector_id=${id}`
    expect((await hub.call('acme', 'GET', path, { scopes: [scope] })).status).toBe(200)
  }
})

test('without a connector is 400, of one that nobody has 404', async () => {
  const without = await hub.call('acme', 'GET', manifestPath)
  expect([without.status, pointersOf(without)]).toEqual([400, ['/query/connector_id']])
  const unknown = await fetchIt({}, 'con_none')
  expect([unknown.status, slugOf(unknown)]).toEqual([404, 'not-found'])
})

accessCases({
  hub: () => hub,
  right: () => ({ method: 'GET', path: `${manifestPath}?connector_id=${id}` }),
  wrongScopes: ['hub:read'],
  otherTenant: 404,
})

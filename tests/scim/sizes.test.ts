import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { connectScim, type ScimClient } from './scim-client.ts'

const queries: string[] = []
let hub: TestHub
let scim: ScimClient
beforeAll(async () => {
  hub = await startHub({ onQuery: (text) => void queries.push(text) })
  scim = await connectScim(hub, 'acme')
})
afterAll(() => hub.stop())

/** People as a directory would have made them, by the database. */
async function people(prefix: string, count: number, title: string): Promise<string[]> {
  const superuser = await hub.superuserClient()
  const { rows } = await superuser.query(
    `with made as (
       insert into hub.users (tenant_id, user_id, email, email_key, role, epoch, created_at, updated_at)
       select 'acme', $1 || i, '', '', 'member', 1, now(), now() from generate_series(1, $2::int) i returning user_id)
     insert into hub.directory_users
       (tenant_id, user_id, user_name, user_name_key, active, attributes, revision, created_at, updated_at)
     select 'acme', user_id, user_id, lower(user_id), true, jsonb_build_object('title', $3::text), 1, now(), now()
     from made returning user_id`,
    [`usr_${prefix}`, count, title],
  )
  await hub.test.proveRows()
  return rows.map((row) => row.user_id)
}

test('a resource has a size, and a pull keeps who is larger by what the Hub needs', async () => {
  const title = 'x'.repeat(65 * 1024)
  for (const answer of [
    await scim.post('/Users', { userName: 'large', title }),
    await scim.post('/Users', {
      userName: 'many',
      photos: Array.from({ length: 70 }, () => ({ value: 'x'.repeat(1000) })),
    }),
    await scim.patch(`/Users/${(await scim.user('grows')).id}`, [{ op: 'add', path: 'title', value: title }]),
  ]) {
    expect(answer.status).toBe(400)
    expect(answer.text.length).toBeLessThan(1000)
  }
  const tenant = await hub.tenant('acme')
  const { directory } = hub.modules.roster
  const page = [
    { userName: 'pulled', externalId: 'p', active: true, attributes: { title, displayName: 'Pulled' } },
    { userName: 'pulled2', externalId: 'p2', active: true, attributes: { displayName: title } },
  ]
  await hub.test.database.withTenant('acme', (tx) => directory.putUsers(tx, tenant, page, 'sync', { service: 'test' }))
  const { body } = await scim.find('Users', 'externalId eq "p"')
  expect(body.Resources).toMatchObject([{ userName: 'pulled', displayName: 'Pulled', active: true }])
  expect(body.Resources[0]).not.toHaveProperty('title')
  expect((await scim.find('Users', 'userName eq "pulled2"')).body.totalResults).toBe(1)
})

test('a body of more than 160,000 values is refused before it is parsed, and 50,000 members are not', async () => {
  const members = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ value: `usr_none${at}`, display: 'x' }))
  const attack = await scim.post('/Groups', { displayName: 'large', members: members(55_000) })
  expect([attack.status, attack.body.status]).toEqual([413, '413'])
  expect(attack.body.detail).toContain('160000 JSON values')
  const unknown = Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`unknown${at}`, 0]))
  const wide = await scim.post('/Users', { userName: 'wide', ...unknown })
  expect([wide.status, wide.body.detail]).toEqual([413, expect.stringContaining('1000 members in one object')])
  const group = await scim.post('/Groups', { displayName: 'large', members: members(50_000) })
  // None of them is known.
  expect([group.status, group.body.scimType]).toEqual([400, 'invalidValue'])
})

test('a page of large people ends early, and all pages together are everybody once', async () => {
  const ids = await people('large', 150, 'x'.repeat(60_000))
  const seen: string[] = []
  let pages = 0
  for (let startIndex = 1; seen.length < 150; pages += 1) {
    const { body, text } = await scim.find('Users', 'userName sw "usr_large"', `&count=1000&startIndex=${startIndex}`)
    expect(text.length).toBeLessThan(4.5 * 1024 * 1024)
    expect(body).toMatchObject({ totalResults: 150, itemsPerPage: body.Resources.length })
    seen.push(...body.Resources.map(({ id }: { id: string }) => id))
    startIndex += body.itemsPerPage
  }
  expect(pages).toBe(3)
  expect(seen.sort()).toEqual(ids.sort())
})

test('many members: unknown ones are told of in short, a mapped group lets others in between, a page of groups ends', async () => {
  const unknown = await scim.post('/Groups', {
    displayName: 'unknown',
    members: Array.from({ length: 20_000 }, (_, at) => ({ value: `usr_nope${at}` })),
  })
  expect([unknown.status, unknown.text.length < 20_000]).toEqual([400, true])

  const ids = await people('member', 12_000, 'Agent')
  await hub.call('acme', 'PUT', '/api/v1/roster/archetypes', { body: { archetypes: [{ archetype_id: 'agent' }] } })
  const map = [{ group: 'agents', archetype_id: 'agent' }]
  await hub.call('acme', 'POST', '/api/v1/identity/scim/configure', {
    body: { mode: 'push', group_archetype_map: map },
  })
  const members = ids.map((value) => ({ value }))
  const before = queries.length
  const { status } = await scim.post('/Groups', { displayName: 'agents', members: members.slice(0, 4000) })
  expect(status).toBe(201)
  // Other requests have their turn whenever the database is asked.
  const assigning = queries.slice(before).filter((text) => /insert into "?hub"?\."?user_archetypes/.test(text))
  expect(assigning.length).toBeGreaterThanOrEqual(4000 / 200)
  const superuser = await hub.superuserClient()
  const { rows } = await superuser.query(`select count(*)::int as n from hub.user_archetypes where tenant_id = 'acme'`)
  expect(rows).toEqual([{ n: 4000 }])

  for (const name of ['b', 'c']) await scim.post('/Groups', { displayName: name, members })
  const first = (await scim.get('/Groups?count=1000')).body
  expect([first.totalResults, first.Resources.length]).toEqual([3, 2])
  const rest = (await scim.get('/Groups?count=1000&startIndex=3')).body
  expect(rest.Resources).toHaveLength(1)
  expect((await scim.get('/Groups?count=1000&excludedAttributes=members')).body.Resources).toHaveLength(3)
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { scimAssignedInPlaceMax, scimPageMembersMax } from '../../contract/limits.ts'
import { connectScim, errorSchema, type ScimClient } from '../scim/scim-client.ts'
import { busiestTurn } from '../support/busiest-turn.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { scaled } from '../support/machine-speed.ts'

const people = scimPageMembersMax + 5_000

let hub: TestHub
let scim: ScimClient
beforeAll(async () => {
  hub = await startHub()
  scim = await connectScim(hub, 'acme')
  await hub.call('acme', 'PUT', '/api/v1/roster/archetypes', { body: { archetypes: [{ archetype_id: 'agent' }] } })
  const map = ['All', 'Some'].map((group) => ({ group, archetype_id: 'agent' }))
  await hub.call('acme', 'POST', '/api/v1/identity/scim/configure', {
    body: { mode: 'push', group_archetype_map: map },
  })
  const superuser = await hub.superuserClient()
  await superuser.query(
    `with made as (
       insert into hub.users (tenant_id, user_id, email, email_key, role, epoch, created_at, updated_at)
       select 'acme', 'usr_p' || i, '', '', 'member', 1, now(), now() from generate_series(1, $1::int) i returning user_id)
     insert into hub.directory_users
       (tenant_id, user_id, user_name, user_name_key, active, attributes, revision, created_at, updated_at)
     select 'acme', user_id, user_id, user_id, true, '{}', 1, now(), now() from made`,
    [people],
  )
  await hub.test.proveRows()
})
afterAll(() => hub.stop())

const membersUpTo = (count: number) => Array.from({ length: count }, (_, at) => ({ value: `usr_p${at + 1}` }))

/** CPU time in milliseconds that others may wait for a turn. */
const turnMsMax = scaled(250)

async function assigned(): Promise<number> {
  const superuser = await hub.superuserClient()
  const { rows } = await superuser.query(`select count(*)::int as n from hub.user_archetypes where tenant_id = 'acme'`)
  return rows[0].n
}

test('of a group of thousands, archetypes follow at once, and others have their turn meanwhile', async () => {
  let id = ''
  const turnMs = await busiestTurn(async () => {
    const { status, body } = await scim.post('/Groups', {
      displayName: 'Some',
      members: membersUpTo(scimAssignedInPlaceMax),
    })
    expect([status, body.members.length]).toEqual([201, scimAssignedInPlaceMax])
    id = body.id
  })
  expect(await assigned()).toBe(scimAssignedInPlaceMax)
  expect(turnMs).toBeLessThan(turnMsMax)
  expect((await scim.call('DELETE', `/Groups/${id}`)).status).toBe(204)
  expect(await assigned()).toBe(0)
})

test('of a larger group, the members are there at once, and archetypes follow; answers say how to go on', async () => {
  let id = ''
  const turnMs = await busiestTurn(async () => {
    const { status, body } = await scim.post('/Groups', { displayName: 'All', members: membersUpTo(people) })
    expect([status, body.displayName, 'members' in body]).toEqual([201, 'All', false])
    id = body.id
  })
  expect(turnMs).toBeLessThan(turnMsMax)
  const found = await scim.find('Users', `groups.value eq "${id}"`, '&count=1')
  expect(found.body.totalResults).toBe(people)
  await expect.poll(assigned, { timeout: scaled(60_000), interval: 250 }).toBe(people)

  for (const refused of [
    await scim.get(`/Groups/${id}`),
    await scim.patch(`/Groups/${id}`, [{ op: 'remove', path: 'members[display sw "usr_p1"]' }]),
  ]) {
    expect(refused.status).toBe(400)
    expect(refused.body).toMatchObject({ schemas: [errorSchema], scimType: 'tooMany' })
    expect(refused.body.detail).toContain('excludedAttributes=members')
  }
  expect((await scim.get(`/Groups/${id}?excludedAttributes=members`)).body).toMatchObject({ id, displayName: 'All' })
  const listed = await scim.find('Groups', 'displayName eq "All"')
  expect(listed.body.Resources).toMatchObject([{ id }])
  expect(listed.body.Resources[0]).not.toHaveProperty('members')
  const removed = await scim.patch(`/Groups/${id}`, [{ op: 'remove', path: 'members[value eq "usr_p1"]' }])
  expect([removed.status, 'members' in removed.body]).toEqual([200, false])
  expect(await assigned()).toBe(people - 1)

  const emptied = await scim.put(`/Groups/${id}`, { displayName: 'All', members: membersUpTo(2) })
  expect([emptied.status, emptied.body.members.length]).toEqual([200, 2])
  await expect.poll(assigned, { timeout: scaled(60_000), interval: 250 }).toBe(2)
})

test('an archetype that leaves the bundle is taken from thousands, and others have their turn meanwhile', async () => {
  const bundle = (...ids: string[]) =>
    hub.call('acme', 'PUT', '/api/v1/roster/archetypes', {
      body: { archetypes: ids.map((id) => ({ archetype_id: id })) },
    })
  const members = membersUpTo(scimAssignedInPlaceMax)
  expect((await scim.post('/Groups', { displayName: 'Some', members })).status).toBe(201)
  expect(await assigned()).toBe(scimAssignedInPlaceMax)
  const turnMs = await busiestTurn(async () => {
    expect((await bundle('other')).status).toBe(200)
  })
  expect(await assigned()).toBe(0)
  expect(turnMs).toBeLessThan(turnMsMax)
})

test('of very many unknown members, the first hundred are named', async () => {
  const members = Array.from({ length: 50_000 }, (_, at) => ({ value: `usr_nope${at}` }))
  const { status, body, text } = await scim.post('/Groups', { displayName: 'Unknown', members })
  expect([status, body.scimType, text.length < 10_000]).toEqual([400, 'invalidValue', true])
  expect(body.detail).toContain('and 49900 more')
})

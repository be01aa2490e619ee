import { afterAll, beforeAll, expect, test } from 'vitest'
import { allRefused, commonRejections } from '../auth/auth-hub.ts'
import { openDirectoryLab, person } from '../roster/directory-lab.ts'
import { pointerOf, type RosterLab, startRosterLab, usersPath } from '../roster/roster-lab.ts'

let lab: RosterLab
const emails = Array.from({ length: 7 }, (_, i) => `person-${i}@acme.example`)
beforeAll(async () => {
  lab = await startRosterLab()
  for (const [i, email] of emails.entries()) await lab.add('acme', email, i % 3 === 0 ? 'analyst' : 'member')
  await lab.add('globex', 'person-0@acme.example')
})
afterAll(() => lab.close())

const list = (query: string, tenant = 'acme') => lab.call(tenant, 'GET', `${usersPath}${query}`)
const found = async (query: string) =>
  (await list(query)).body.items.map(({ email }: { email: string }) => Number(email.match(/\d/)?.[0]))

test('pages meet every user of the tenant once, the oldest first', async () => {
  const met: string[] = []
  let query = '?limit=3'
  for (let pages = 0; pages < 5; pages += 1) {
    const { status, body } = await lab.call('acme', 'GET', `${usersPath}${query}`, { scopes: ['roster:read'] })
    expect(status).toBe(200)
    met.push(...body.items.map((item: { email: string }) => item.email))
    if (body.next_cursor === null) break
    query = `?limit=3&cursor=${body.next_cursor}`
  }
  expect(met).toEqual(emails)
})

test('users made at the same time are met once too', async () => {
  const superuser = await lab.hub.superuserClient()
  await superuser.query(
    `insert into hub.users (tenant_id, user_id, email, email_key, role, epoch, created_at, updated_at)
     select 'cmode', 'usr_' || lpad(n::text, 24, '0'), n || '@x', n || '@x', 'member', 1, $1, $1
     from generate_series(1, 10) n`,
    ['2026-01-01T00:00:00.123456Z'],
  )
  const met: string[] = []
  for (let cursor = ''; ; ) {
    const { body } = await list(`?limit=4${cursor}`, 'cmode')
    met.push(...body.items.map((item: { user_id: string }) => item.user_id))
    if (body.next_cursor === null) break
    cursor = `&cursor=${body.next_cursor}`
  }
  expect(met).toEqual([...new Set(met)].sort())
  expect(met).toHaveLength(10)
})

test('an item is the user', async () => {
  const { items } = (await list('?limit=1')).body
  expect(items[0]).toEqual({
    user_id: expect.stringMatching(/^usr_[A-Za-z0-9]{24}$/),
    email: 'person-0@acme.example',
    role: 'analyst',
    active: true,
    source: 'manual',
    archetype_ids: [],
    matched: true,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
  })
  expect(items[0]).toEqual(await lab.get('acme', items[0].user_id))
})

test('role, active and email narrow the list, alone and together', async () => {
  const [victim] = (await list('?email=person-4@acme.example')).body.items
  await lab.act('acme', victim.user_id, 'deactivate')
  expect(await found('?role=analyst')).toEqual([0, 3, 6])
  expect(await found('?active=false')).toEqual([4])
  expect(await found('?active=true')).toEqual([0, 1, 2, 3, 5, 6])
  expect(await found('?role=member&active=true')).toEqual([1, 2, 5])
  expect(await found('?role=analyst&active=false')).toEqual([])
  expect(await found('?email=PERSON-2@Acme.example')).toEqual([2])
  expect(await found('?email=person-2@acme.example&role=analyst')).toEqual([])
})

test('a part of the address or the name finds people, in either case', async () => {
  await lab.call('globex', 'POST', usersPath, { body: { email: 'zoe@globex.example', display_name: 'Zoë Łukasik' } })
  const globex = async (search: string) =>
    (await list(`?search=${encodeURIComponent(search)}`, 'globex')).body.items.map(
      ({ email }: { email: string }) => email,
    )
  for (const search of ['zoe', 'ZOE@', 'Zoë Ł', 'Łukasik', 'ukasik', 'globex.example']) {
    expect([search, await globex(search)]).toEqual([search, ['zoe@globex.example']])
  }
  // A database made with the locale C knows both cases of the letters of ASCII alone.
  const superuser = await lab.hub.superuserClient()
  const { rows } = await superuser.query<{ knows: boolean }>("select lower('Ł') = 'ł' as knows")
  for (const search of ['zoë ł', 'łukasik'])
    expect([search, await globex(search)]).toEqual([search, rows[0]!.knows ? ['zoe@globex.example'] : []])
  for (const search of ['%', '_', 'z%e', 'zoe łukasik', '\\', 'zoë  '])
    expect([search, await globex(search)]).toEqual([search, []])
  expect(await found('?search=PERSON')).toEqual([0, 1, 2, 3, 4, 5, 6])
  expect(await found('?search=person&role=analyst')).toEqual([0, 3, 6])
  const { next_cursor: cursor } = (await list('?search=person&limit=2')).body
  expect(await found(`?search=person&limit=2&cursor=${cursor}`)).toEqual([2, 3])
  expect((await list(`?search=perso&cursor=${cursor}`)).status).toBe(400)
  for (const search of ['', 'x'.repeat(201)]) {
    const { status, body } = await list(`?search=${search}`)
    expect([status, body.errors[0].pointer]).toEqual([400, '/query/search'])
  }
})

test.each([
  '%',
  'person-%',
  '%@acme.example',
  'person-_@acme.example',
  "' or '1'='1",
  "person-0@acme.example'--",
  '*',
  'person-0@acme.example ',
  '\\',
])('%j finds nobody: an address is looked for as it is', async (email) => {
  expect(await found(`?email=${encodeURIComponent(email)}`)).toEqual([])
})

test('a cursor that was altered, or is of another tenant or query, is refused', async () => {
  const { next_cursor: cursor } = (await list('?limit=1&role=member')).body
  expect((await list(`?limit=2&role=member&cursor=${cursor}`)).status).toBe(200)
  const altered = `${cursor.slice(0, -1)}${cursor.endsWith('A') ? 'B' : 'A'}`
  const answers = [
    await list(`?role=member&cursor=${altered}`),
    await list(`?role=analyst&cursor=${cursor}`),
    await list(`?cursor=${cursor}`),
    await list(`?role=member&active=true&cursor=${cursor}`),
    await list(`?role=member&email=person-1@acme.example&cursor=${cursor}`),
    await list(`?role=member&cursor=${cursor}`, 'globex'),
    await lab.call('acme', 'GET', `/api/v1/roster/archetypes?cursor=${cursor}`),
  ]
  for (const { status, body } of answers) {
    expect([status, body.type]).toEqual([400, `${lab.url}/errors/invalid-cursor`])
  }
})

test.each([
  ['limit=0', '/query/limit'],
  ['limit=1001', '/query/limit'],
  ['role=owner', '/query/role'],
  ['role=', '/query/role'],
  ['role=__proto__', '/query/role'],
  ['role=admin&role=member', '/query/role'],
  ['active=1', '/query/active'],
  ['active=yes', '/query/active'],
  ['email=', '/query/email'],
  [`email=${'x'.repeat(255)}`, '/query/email'],
  ['email=a%00b', '/query/email'],
  ['name=x', '/query/name'],
  ['matched=maybe', '/query/matched'],
  ['group_id=', '/query/group_id'],
  [`group_id=${'x'.repeat(65)}`, '/query/group_id'],
  ['archetype_id=a%20b', '/query/archetype_id'],
])('%s is refused with a pointer', async (query, pointer) => {
  const { status, body } = await list(`?${query}`)
  expect(status).toBe(400)
  expect(body.errors.map(pointerOf)).toEqual([pointer])
})

test('people of the directory are told apart, and found by group, archetype and whether they are matched', async () => {
  const directory = openDirectoryLab(lab.hub)
  await directory.archetypes('agent')
  await directory.map({ Agents: 'agent' })
  const { userId: kim } = await directory.add(person('kim', { externalId: 'e-1' }))
  const { userId: lee } = await directory.add(person('lee'))
  await directory.add(person('mo', { active: false }))
  const { groupId } = await directory.addGroup('Agents', [kim])
  expect(await lab.get('acme', kim)).toEqual({
    user_id: kim,
    email: '',
    user_name: 'kim',
    external_id: 'e-1',
    role: 'member',
    active: true,
    source: 'directory',
    archetype_ids: ['agent'],
    matched: true,
    created_at: expect.any(String),
  })
  const idsFor = async (query: string) =>
    (await list(query)).body.items.map((item: { user_id: string }) => item.user_id)
  expect(await idsFor(`?group_id=${groupId}`)).toEqual([kim])
  expect(await idsFor('?group_id=grp_none')).toEqual([])
  expect(await idsFor('?archetype_id=agent')).toEqual([kim])
  expect(await idsFor('?archetype_id=agent&active=false')).toEqual([])
  const unmatched = (await list('?matched=false')).body.items
  expect(unmatched).toMatchObject([{ user_id: lee, matched: false, source: 'directory' }])
  const everybody = await idsFor('?limit=1000')
  expect((await idsFor('?matched=true&limit=1000')).sort()).toEqual(everybody.filter((id: string) => id !== lee).sort())
  const { next_cursor: cursor } = (await list('?matched=true&limit=1')).body
  expect((await list(`?matched=false&limit=1&cursor=${cursor}`)).status).toBe(400)
})

test('without token, scope or tenant there is nothing to see', async () => {
  expect(await commonRejections(lab, 'GET', usersPath, { scopes: ['hub:read', 'roster:write'] })).toEqual(allRefused)
})

test('addresses asked for are not in the log', async () => {
  await list('?email=unheard-of@acme.example')
  expect(lab.hub.logLines.join('\n')).not.toMatch(/acme\.example/)
})

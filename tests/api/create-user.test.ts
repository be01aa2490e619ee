import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allRefused, commonRejections } from '../auth/auth-hub.ts'
import { pointerOf, type RosterLab, startRosterLab, usersPath } from '../roster/roster-lab.ts'

let lab: RosterLab
beforeAll(async () => {
  lab = await startRosterLab()
})
afterAll(() => lab.close())

const create = (body: unknown, tenant = 'acme') => lab.call(tenant, 'POST', usersPath, { body })

test('a user is added, found at the Location, and the event names no address', async () => {
  const { status, headers, body } = await create({
    email: 'Kim.Lee@Acme.example',
    display_name: 'Kim Lee',
    role: 'auditor',
  })
  expect(status).toBe(201)
  expect(body).toEqual({
    user_id: expect.stringMatching(/^usr_[A-Za-z0-9]{24}$/),
    email: 'Kim.Lee@Acme.example',
    display_name: 'Kim Lee',
    role: 'auditor',
    active: true,
    source: 'manual',
    archetype_ids: [],
    matched: true,
    created_at: expect.any(String),
  })
  expect(headers.get('location')).toBe(`${usersPath}/${body.user_id}`)
  expect((await lab.call('acme', 'GET', headers.get('location')!)).body).toEqual(body)
  const events = await lab.eventsAbout('acme', body.user_id)
  expect(events).toEqual([
    {
      change: 'user_created',
      before: null,
      after: { role: 'auditor', active: true },
      actor: expect.stringMatching(/^sa/),
      address: '127.0.0.1',
      request_id: expect.any(String),
    },
  ])
})

test('a user without a role is a member, and signs in as the one who was added', async () => {
  const { body } = await create({ email: 'plain@acme.example' })
  expect(body).toMatchObject({ role: 'member' })
  const tenant = await lab.hub.tenant('acme')
  const { signInUsers } = lab.hub.modules.roster
  const user = await lab.hub.test.database.withTenant('acme', async (tx) => {
    const signedIn = await signInUsers.ensure(tx, tenant, 'PLAIN@acme.example')
    await signInUsers.noteSignIn(tx, signedIn.userId)
    return signedIn
  })
  expect(user.userId).toBe(body.user_id)
  const after = await lab.get('acme', body.user_id)
  expect(after).toEqual({ ...body, last_sign_in_at: expect.any(String) })
})

test('an address is given once while its owner is active, also to many at once, and in each tenant', async () => {
  const email = 'once@acme.example'
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, i) => create({ email: i % 2 ? email : email.toUpperCase() })),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)])
  const { body } = answers.find(({ status }) => status === 409)!
  expect(body.type).toBe(`${lab.url}/errors/concurrent-modification`)
  expect(body.errors.map(pointerOf)).toEqual(['/email'])
  // The same domain, with the full stop of another script.
  expect((await create({ email: 'once@acme\u3002example' })).status).toBe(409)
  expect((await create({ email }, 'globex')).status).toBe(201)
})

test('an address whose owner has left is given to somebody else', async () => {
  const first = await lab.add('acme', 'desk@acme.example')
  await lab.act('acme', first.user_id, 'deactivate')
  const second = await create({ email: 'desk@acme.example' })
  expect(second.status).toBe(201)
  expect(second.body.user_id).not.toBe(first.user_id)
})

describe('refused with a pointer', () => {
  test.each<[string, unknown, string]>([
    ['no address', {}, '/email'],
    ['no text', { email: 7 }, '/email'],
    ['an address without @', { email: 'kim' }, '/email'],
    ['two addresses', { email: 'a@x.org,b@x.org' }, '/email'],
    ['two @', { email: 'a@b@x.org' }, '/email'],
    ['a line break', { email: 'a@x.org\nBcc:b@x.org' }, '/email'],
    ['a line break at the end', { email: 'a@x.org\n' }, '/email'],
    ['a name around it', { email: 'Kim <a@x.org>' }, '/email'],
    ['an invisible character', { email: 'a\u200b@x.org' }, '/email'],
    ['NUL', { email: 'a\u0000@x.org' }, '/email'],
    ['255 characters', { email: `${'a'.repeat(249)}@x.org` }, '/email'],
    ['a path behind the domain', { email: 'a@x.org/y' }, '/email'],
    ['a domain that is none', { email: 'a@x..org' }, '/email'],
    ['an unknown role', { email: 'a@x.org', role: 'owner' }, '/role'],
    ['a role of the prototype', { email: 'a@x.org', role: 'constructor' }, '/role'],
    ['several roles', { email: 'a@x.org', role: ['admin'] }, '/role'],
    ['no role', { email: 'a@x.org', role: null }, '/role'],
    ['an empty name', { email: 'a@x.org', display_name: '' }, '/display_name'],
    ['a name of spaces', { email: 'a@x.org', display_name: ' ' }, '/display_name'],
    ['a name of two lines', { email: 'a@x.org', display_name: 'a\nb' }, '/display_name'],
    ['a long name', { email: 'a@x.org', display_name: 'a'.repeat(201) }, '/display_name'],
    ['a server-set member', { email: 'a@x.org', user_id: 'usr_1' }, '/user_id'],
    ['another server-set member', { email: 'a@x.org', active: false }, '/active'],
    ['a list', [], ''],
  ])('%s', async (_name, body, pointer) => {
    const answer = await create(body, 'cmode')
    expect(answer.status).toBe(400)
    expect(answer.body.errors.map(pointerOf)).toContain(pointer)
    expect((await lab.call('cmode', 'GET', usersPath)).body.items).toEqual([])
  })
})

test('without token, scope or tenant nobody is added', async () => {
  const body = { email: 'intruder@example.com' }
  expect(await commonRejections(lab, 'POST', usersPath, { body, scopes: ['roster:read', 'hub:write'] })).toEqual(
    allRefused,
  )
  expect((await lab.call('acme', 'GET', `${usersPath}?email=intruder@example.com`)).body.items).toEqual([])
})

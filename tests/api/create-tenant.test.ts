import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventsOf } from '../auth/auth-lab.ts'
import {
  allStrangersRefused,
  type OperatorLab,
  problemOf,
  startOperatorLab,
  strangersAnswers,
  tenantsPath,
} from '../tenants/operator-lab.ts'

let lab: OperatorLab
beforeAll(async () => {
  lab = await startOperatorLab()
})
afterAll(() => lab.hub.stop())

const create = (body: unknown) => lab.call('POST', tenantsPath, body)

test('a tenant is made, and its administrator has a link', async () => {
  const body = { slug: 'initech', mode: 'A', admin_email: 'admin@initech.example', display_name: 'Initech' }
  const made = await create(body)
  expect([made.status, made.headers.location, made.headers['cache-control']]).toEqual([
    201,
    `${tenantsPath}/initech`,
    'no-store',
  ])
  expect(made.body).toEqual({
    tenant: 'initech',
    mode: 'A',
    admin_email: 'admin@initech.example',
    welcome_url: expect.stringMatching(new RegExp(`^${lab.hub.baseUrl}/welcome/initech/[A-Za-z0-9_-]{43}$`)),
    welcome_expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
  })
  expect((await fetch(made.body.welcome_url)).status).toBe(200)
  expect((await lab.call('GET', `${tenantsPath}/initech`)).body).toMatchObject({ display_name: 'Initech' })
  const [event, ...more] = await eventsOf(lab.hub.test.database, 'initech')
  expect(event).toMatchObject({
    event_kind: 'tenant.config_changed',
    subject: 'tenant:initech',
    details: { change: 'created', actor: 'operator:api', address: '127.0.0.1', request_id: expect.any(String) },
  })
  expect(more).toEqual([])
  expect(JSON.stringify(event)).not.toContain('@initech')

  const again = await create(body)
  expect(problemOf(again)).toEqual([409, 'concurrent-modification'])
  expect(again.body.errors).toEqual([{ pointer: '/slug', detail: 'is already in use' }])
  expect(await eventsOf(lab.hub.test.database, 'initech')).toHaveLength(1)
})

test('a Mode C tenant may have an address of its own, which no other has', async () => {
  const body = { mode: 'C', admin_email: 'a@c.example', base_url: 'https://hub.c.example/' }
  expect((await create({ slug: 'c-one', ...body })).status).toBe(201)
  expect((await lab.call('GET', `${tenantsPath}/c-one`)).body.base_url).toBe('https://hub.c.example')
  expect(problemOf(await create({ slug: 'c-two', ...body }))).toEqual([409, 'concurrent-modification'])
})

const sound = { slug: 'sound', mode: 'A', admin_email: 'a@sound.example' }
test.each<[string, unknown, string[]]>([
  ['nothing', {}, ['/slug', '/mode', '/admin_email']],
  ['a bad slug', { ...sound, slug: 'Sound' }, ['/slug']],
  ['another mode', { ...sound, mode: 'D' }, ['/mode']],
  ['no address of mail', { ...sound, admin_email: 'nobody' }, ['/admin_email']],
  ['an own address in Mode A', { ...sound, base_url: 'https://a.example' }, ['/base_url']],
  ['an address with a path', { ...sound, mode: 'C', base_url: 'https://a.example/hub' }, ['/base_url']],
  ['an empty name', { ...sound, display_name: '' }, ['/display_name']],
  [
    'an address that only a closer look refuses, beside a bad slug',
    { ...sound, slug: 'S', admin_email: 'a@b@c.example', base_url: 'https://a.example/hub' },
    ['/admin_email', '/base_url', '/slug'],
  ],
  ['an address that is none in any mode', { ...sound, mode: 'D', base_url: 'nowhere' }, ['/base_url', '/mode']],
  ['a member more', { ...sound, plan: 'gold' }, ['/plan']],
])('%s is refused', async (_name, body, pointers) => {
  const answer = await create(body)
  expect(problemOf(answer)).toEqual([400, 'validation-failed'])
  expect(answer.body.errors.map((error: { pointer: string }) => error.pointer).sort()).toEqual(pointers.sort())
})

test('nobody but the operator makes tenants', async () => {
  expect(await strangersAnswers(lab, 'POST', tenantsPath, sound)).toEqual(allStrangersRefused)
  // Before anything of the body is looked at.
  expect(problemOf(await lab.call('POST', tenantsPath, '{bad', { token: 'wrong' }))[0]).toBe(401)
  expect(problemOf(await lab.call('GET', `${tenantsPath}/sound`))).toEqual([404, 'not-found'])
})

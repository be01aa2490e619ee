import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventsOf } from '../auth/auth-lab.ts'
import {
  allStrangersRefused,
  type OperatorLab,
  ofTenant,
  problemOf,
  startOperatorLab,
  strangersAnswers,
} from '../tenants/operator-lab.ts'

let lab: OperatorLab
beforeAll(async () => {
  lab = await startOperatorLab()
})
afterAll(() => lab.hub.stop())

const change = (slug: string, body: unknown) => lab.call('PATCH', ofTenant(slug), body)
const newestEvent = async (slug: string) => (await eventsOf(lab.hub.test.database, slug)).at(-1)
const countEvents = async (slug: string) => (await eventsOf(lab.hub.test.database, slug)).length

test('what is sent changes, once, and the tenant’s log tells of it', async () => {
  const before = await countEvents('acme')
  const body = { display_name: 'Acme Corporation', limits: { roster: { per_token: 5, per_tenant: 7 } } }
  const changed = await change('acme', body)
  expect(changed.status).toBe(200)
  expect(changed.body).toMatchObject({ tenant: 'acme', ...body, admin_email: 'admin@acme.example', suspended: false })
  expect(await newestEvent('acme')).toMatchObject({
    event_kind: 'tenant.config_changed',
    subject: 'tenant:acme',
    details: {
      change: 'tenant',
      changed: ['display_name', 'limits'],
      before: { display_name: 'acme', limits: {} },
      after: body,
      actor: 'operator:api',
    },
  })
  expect((await change('acme', body)).body).toEqual(changed.body)
  expect((await change('acme', {})).body).toEqual(changed.body)
  expect(await countEvents('acme')).toBe(before + 1)

  const reset = await change('acme', { limits: { roster: null } })
  expect(reset.body.limits).toEqual({})
  expect((await lab.call('GET', ofTenant('acme'))).body).toEqual(reset.body)
})

test('own quotas of exports are set one by one, recorded, and set back to the default', async () => {
  const before = await countEvents('acme')
  expect((await change('acme', { export_quota: { exports_per_day: 50 } })).body.export_quota).toEqual({
    exports_per_day: 50,
  })
  const both = { exports_per_day: 50, mb_kept: 2048 }
  expect((await change('acme', { export_quota: { mb_kept: 2048 } })).body.export_quota).toEqual(both)
  expect(await newestEvent('acme')).toMatchObject({
    event_kind: 'tenant.config_changed',
    details: {
      changed: ['export_quota'],
      before: { export_quota: { exports_per_day: 50 } },
      after: { export_quota: both },
      actor: 'operator:api',
    },
  })
  expect((await change('acme', { export_quota: both })).body.export_quota).toEqual(both)
  expect((await lab.call('GET', ofTenant('globex'))).body.export_quota).toEqual({})
  const reset = await change('acme', { export_quota: { exports_per_day: null, mb_kept: null } })
  expect(reset.body.export_quota).toEqual({})
  expect(await countEvents('acme')).toBe(before + 3)
})

test('another administrator: links to the one before no longer open, and no address is in the log', async () => {
  const link = (await lab.call('POST', ofTenant('acme', ':welcome-link'))).body.welcome_url
  expect((await fetch(link)).status).toBe(200)
  expect((await change('acme', { admin_email: 'boss@acme.example' })).body.admin_email).toBe('boss@acme.example')
  expect((await fetch(link)).status).toBe(404)
  const event = await newestEvent('acme')
  expect(event?.details).toMatchObject({ changed: ['admin_email'], before: {}, after: {} })
  expect(JSON.stringify(event)).not.toContain('@')
  expect((await lab.call('POST', ofTenant('acme', ':welcome-link'))).body.admin_email).toBe('boss@acme.example')
})

test('a Mode C tenant moves to an address of its own, and back', async () => {
  const own = 'https://hub.customer.example'
  expect((await change('cmode', { base_url: `${own}/` })).body.base_url).toBe(own)
  expect(await newestEvent('cmode')).toMatchObject({ details: { after: { base_url: own } } })
  await lab.call('POST', '/api/v1/operator/tenants', { slug: 'cother', mode: 'C', admin_email: 'a@c.example' })
  expect(problemOf(await change('cother', { base_url: own }))).toEqual([409, 'concurrent-modification'])
  expect((await change('cmode', { base_url: null })).body.base_url).toBe(lab.hub.baseUrl)
})

test.each<[string, unknown, string[]]>([
  ['no address of mail', { admin_email: 'nobody' }, ['/admin_email']],
  ['an own address in Mode A', { base_url: 'https://a.example' }, ['/base_url']],
  ['a class that is none', { limits: { everything: null } }, ['/limits/everything']],
  ['a limit of nothing', { limits: { roster: { per_token: 0, per_tenant: 1 } } }, ['/limits/roster']],
  ['a quota of nothing', { export_quota: { exports_per_day: 0 } }, ['/export_quota/exports_per_day']],
  ['a quota beyond all bounds', { export_quota: { mb_kept: 1_000_000_001 } }, ['/export_quota/mb_kept']],
  ['a quota in words', { export_quota: { mb_kept: '100' } }, ['/export_quota/mb_kept']],
  ['a quota of something else', { export_quota: { records: 1 } }, ['/export_quota/records']],
  ['no quotas at all', { export_quota: null }, ['/export_quota']],
  ['half a limit', { limits: { roster: { per_token: 1 } } }, ['/limits/roster']],
  ['another slug', { slug: 'other' }, ['/slug']],
  ['another mode', { mode: 'B' }, ['/mode']],
])('%s is refused, and changes nothing', async (_name, body, pointers) => {
  const before = (await lab.call('GET', ofTenant('globex'))).body
  const answer = await change('globex', { display_name: 'Changed', ...(body as object) })
  expect(problemOf(answer)).toEqual([400, 'validation-failed'])
  expect(answer.body.errors.map((error: { pointer: string }) => error.pointer)).toEqual(pointers)
  expect((await lab.call('GET', ofTenant('globex'))).body).toEqual(before)
})

test('nobody but the operator changes a tenant, and none that does not exist', async () => {
  expect(await strangersAnswers(lab, 'PATCH', ofTenant('globex'), { suspended: true })).toEqual(allStrangersRefused)
  expect((await lab.call('GET', ofTenant('globex'))).body.suspended).toBe(false)
  expect(problemOf(await change('nobody', {}))).toEqual([404, 'not-found'])
})

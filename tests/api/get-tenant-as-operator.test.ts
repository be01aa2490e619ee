import { afterAll, beforeAll, expect, test } from 'vitest'
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

test('a tenant is shown with what the operator may change', async () => {
  const { status, body } = await lab.call('GET', ofTenant('acme'))
  expect(status).toBe(200)
  expect(body).toEqual({
    tenant: 'acme',
    mode: 'A',
    display_name: 'acme',
    base_url: lab.hub.baseUrl,
    admin_email: 'admin@acme.example',
    search_language: 'simple',
    created_at: expect.stringMatching(/\.\d{6}Z$/),
    suspended: false,
    limits: {},
    export_quota: {},
  })
})

test.each(['nobody', 'Acme', 'x', 'a%2Fb'])('there is no tenant %s', async (slug) => {
  expect(problemOf(await lab.call('GET', ofTenant(slug)))).toEqual([404, 'not-found'])
})

test('nobody but the operator sees it, and it takes no parameters', async () => {
  expect(await strangersAnswers(lab, 'GET', ofTenant('acme'))).toEqual(allStrangersRefused)
  expect(await strangersAnswers(lab, 'GET', ofTenant('nobody'))).toEqual(allStrangersRefused)
  expect(problemOf(await lab.call('GET', ofTenant('acme', '?full=1')))).toEqual([400, 'validation-failed'])
})

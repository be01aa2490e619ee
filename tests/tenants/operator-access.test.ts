import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub } from '../support/hub.ts'
import { type OperatorLab, operatorToken, problemOf, startOperatorLab, tenantsPath } from './operator-lab.ts'

let lab: OperatorLab
beforeAll(async () => {
  lab = await startOperatorLab({ limitFactor: 1 })
})
afterAll(() => lab.hub.stop())

test('where no token is configured nobody gets in, with the same answer', async () => {
  const hub = await startHub()
  try {
    const headers = { 'x-service-tenant': undefined }
    const answers = [operatorToken, '', 'undefined', await hub.token('acme')].map((token) =>
      hub.call('acme', 'GET', tenantsPath, { token: token === '' ? null : token, headers }),
    )
    const known = await hub.call('acme', 'GET', `${tenantsPath}/acme`, { token: operatorToken, headers })
    for (const answer of [...(await Promise.all(answers)), known]) {
      expect([...problemOf(answer), answer.body.detail]).toEqual([
        401,
        'authentication-failed',
        expect.stringContaining('HUB_OPERATOR_TOKEN'),
      ])
    }
  } finally {
    await hub.stop()
  }
})

test('at a tenant’s own address there is no operator', async () => {
  const host = 'customer.localhost:9'
  const body = { slug: 'customer', mode: 'C', admin_email: 'a@customer.example', base_url: `http://${host}` }
  expect((await lab.call('POST', tenantsPath, body)).status).toBe(201)
  const there = () =>
    lab.hub.call('acme', 'GET', tenantsPath, { token: operatorToken, headers: { 'x-service-tenant': undefined, host } })
  await expect.poll(async () => problemOf(await there())).toEqual([401, 'authentication-failed'])
  expect((await lab.call('GET', tenantsPath)).status).toBe(200)
})

test('a header that is there twice, or is no bearer token, is none', async () => {
  for (const authorization of [`Basic ${btoa(`operator:${operatorToken}`)}`, operatorToken, 'Bearer']) {
    const headers = { authorization, 'x-service-tenant': undefined }
    const { status } = await lab.hub.call('acme', 'GET', tenantsPath, { token: null, headers })
    expect([authorization, status]).toEqual([authorization, 401])
  }
})

test('wrong tokens count against the address, and never keep the right one out', async () => {
  const statuses: number[] = []
  for (let attempt = 0; attempt < 101; attempt += 1) {
    statuses.push((await lab.call('GET', tenantsPath, undefined, { token: `wrong-${attempt}` })).status)
  }
  // Those of the tests before count as well.
  expect([statuses[0], statuses.at(-1), statuses.lastIndexOf(401) < statuses.indexOf(429)]).toEqual([401, 429, true])
  const right = await lab.call('GET', tenantsPath)
  expect([right.status, right.headers['ratelimit-policy']]).toEqual([200, '"token";q=100;w=60'])
})

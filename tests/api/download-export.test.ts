import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ExportsHub, startExportsHub } from '../exports/ordered-exports.ts'

let lab: ExportsHub
let file: string
beforeAll(async () => {
  lab = await startExportsHub()
  const jobId = await lab.order('acme', { filter: { record_type: ['artifact'] } })
  file = (await lab.ended('acme', jobId)).download_url
})
afterAll(() => lab.close())

async function rejectionOf(url: string, headers: Record<string, string> = {}) {
  const answer = await fetch(url, { headers })
  const problem = (await answer.json()) as { type: string }
  return [answer.status, problem.type.split('/').at(-1)]
}

test('gives the file to whoever has its address, without token or tenant', async () => {
  const answer = await fetch(file)
  expect(answer.status).toBe(200)
  expect((await answer.text()).trimEnd().split('\n')).toHaveLength(5)
  const part = await fetch(file, { headers: { range: 'bytes=0-9' } })
  expect([part.status, (await part.text()).length]).toEqual([206, 10])
})

test('any part of the address that is altered or missing closes it', async () => {
  const url = new URL(file)
  for (const name of ['tenant', 'expires', 'signature']) {
    const other = new URL(url)
    other.searchParams.set(name, `${url.searchParams.get(name)}1`)
    expect(await rejectionOf(other.href)).toEqual([403, 'invalid-download-url'])
    other.searchParams.delete(name)
    expect(await rejectionOf(other.href)).toEqual([403, 'invalid-download-url'])
  }
  expect(await rejectionOf(url.origin + url.pathname)).toEqual([403, 'invalid-download-url'])
})

test('a token and a tenant header instead of the signature open nothing', async () => {
  const { origin, pathname } = new URL(file)
  const headers = { authorization: `Bearer ${await lab.hub.token('acme')}`, 'x-service-tenant': 'acme' }
  expect(await rejectionOf(origin + pathname, headers)).toEqual([403, 'invalid-download-url'])
})

test('a parameter besides, or twice, is refused', async () => {
  expect(await rejectionOf(`${file}&x=1`)).toEqual([400, 'validation-failed'])
  expect(await rejectionOf(`${file}&tenant=acme`)).toEqual([400, 'validation-failed'])
})

test('a range behind the end is refused', async () => {
  expect(await rejectionOf(file, { range: 'bytes=99999999-' })).toEqual([416, 'range-not-satisfiable'])
})

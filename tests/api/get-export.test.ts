import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Scope } from '../../contract/scopes.ts'
import { allRefused, commonRejections } from '../auth/auth-hub.ts'
import { type ExportsHub, exportsPath, startExportsHub } from '../exports/ordered-exports.ts'

let lab: ExportsHub
let jobId: string
beforeAll(async () => {
  lab = await startExportsHub()
  jobId = await lab.order('acme', { filter: { record_type: ['artifact'] }, verify: true })
  await lab.ended('acme', jobId)
})
afterAll(() => lab.close())

const get = (id: string, tenant = 'acme', scopes?: readonly Scope[]) =>
  lab.call(tenant, 'GET', `${exportsPath}/${id}`, { ...(scopes && { scopes }) })
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)

test('answers exactly what is promised, with addresses that open the files', async () => {
  const { status, body } = await get(jobId)
  expect(status).toBe(200)
  const address = (file: string) =>
    expect.stringMatching(
      new RegExp(
        `^${lab.url}${exportsPath}/${jobId}/${file}\\?tenant=acme&expires=\\d{10}&signature=[A-Za-z0-9_-]{43}$`,
      ),
    )
  expect(body).toEqual({
    job_id: jobId,
    status: 'completed',
    format: 'jsonl',
    created_at: time,
    estimated_completion_ts: time,
    progress: { done: 5, total: 5 },
    download_url: address(`${jobId}.jsonl`),
    manifest_url: address(`${jobId}.jsonl.manifest.json`),
    verification_summary: { checked: 5, verified: 5, tampered: 0, cosign_invalid: 0 },
  })
  const manifest = JSON.parse(await lab.fetched(body.manifest_url))
  const file = await lab.fetched(body.download_url)
  expect(manifest).toMatchObject({ export: { job_id: jobId }, file: { size_bytes: file.length, rows: 5 } })
  const hours = (Number(new URL(body.download_url).searchParams.get('expires')) * 1000 - Date.now()) / 3_600_000
  expect(hours).toBeGreaterThan(23.9)
  expect(hours).toBeLessThanOrEqual(24)
})

test('one that has only been ordered has no addresses yet', async () => {
  const { body } = await get(await lab.order('globex'), 'globex')
  expect(['queued', 'running', 'completed']).toContain(body.status)
  if (body.status !== 'completed') expect(body).not.toHaveProperty('download_url')
})

test('whoever may not see every type that it has does not see it', async () => {
  expect((await get(jobId, 'acme', ['hub:read'])).status).toBe(200)
  for (const scopes of [['governance:read'], ['telemetry:read', 'governance:read']] as const) {
    expect((await get(jobId, 'acme', scopes)).status).toBe(404)
  }
  const ofEvents = await lab.order('acme', { filter: { record_type: ['governance_event'] } }, ['governance:read'])
  await lab.ended('acme', ofEvents)
  for (const scopes of [['governance:read'], ['hub:read'], ['governance:read', 'telemetry:read']] as const) {
    expect((await get(ofEvents, 'acme', scopes)).status).toBe(200)
  }
  expect((await get(ofEvents, 'acme', ['telemetry:read'])).status).toBe(404)
})

test('7 what is guessed or of another tenant is not there', async () => {
  const guessed = await get(`exp_${'A'.repeat(24)}`)
  expect([guessed.status, guessed.body.type.split('/').at(-1)]).toEqual([404, 'not-found'])
  const foreign = await get(jobId, 'globex')
  expect({ ...foreign.body, instance: '' }).toEqual({ ...guessed.body, instance: '' })
  for (const id of ['x', 'exp_%27--', '..%2F', 'é', 'x'.repeat(500)]) expect((await get(id)).status).toBe(404)
})

test('takes no parameters', async () => {
  const { status, body } = await lab.call('acme', 'GET', `${exportsPath}/${jobId}?verify=true`)
  expect([status, body.errors[0].pointer]).toEqual([400, '/query/verify'])
})

test('without token, scope or tenant there is nothing to see', async () => {
  expect(await commonRejections(lab, 'GET', `${exportsPath}/${jobId}`, { scopes: ['hub:write'] })).toEqual(allRefused)
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ExportJobsLab, exportsPath, orderPath, startExportJobsLab } from '../exports/export-jobs-lab.ts'

let lab: ExportJobsLab
beforeAll(async () => {
  lab = await startExportJobsLab()
})
afterAll(() => lab.hub.stop())

const cancel = (id: string, options: Parameters<typeof lab.hub.call>[3] = {}, tenant: 'acme' | 'globex' = 'acme') =>
  lab.hub.call(tenant, 'POST', `${exportsPath}/${id}:cancel`, options)
const slugOf = ({ status, body }: { status: number; body: { type: string } }) => [status, body.type.split('/').at(-1)]

test('ends one that waits or runs, and answers the same again', async () => {
  lab.hold()
  const { job_id } = (await lab.order('acme', { format: 'csv' })).body
  const cancelled = await cancel(job_id)
  expect([cancelled.status, cancelled.body.status]).toEqual([200, 'cancelled'])
  expect(cancelled.body).not.toHaveProperty('download_url')
  for (const body of [undefined, {}]) {
    const again = await cancel(job_id, { body })
    expect([again.status, again.body]).toEqual([200, cancelled.body])
  }
  expect((await lab.hub.call('acme', 'GET', `${exportsPath}/${job_id}`)).body).toEqual(cancelled.body)
  const events = (await lab.events('acme', 'hub.export_cancelled')).filter(({ subject }) => subject.endsWith(job_id))
  expect(events).toHaveLength(1)
  expect(events[0].details).toMatchObject({
    format: 'csv',
    address: '127.0.0.1',
    actor: await lab.hub.clientId('acme'),
  })
  lab.letGo()
})

test('one that has ended stays as it is', async () => {
  const done = await lab.completed('acme')
  const answer = await cancel(done.job_id)
  expect(slugOf(answer)).toEqual([409, 'concurrent-modification'])
  expect(answer.body.detail).toBe('The export can no longer be cancelled: it is completed.')
  expect((await lab.hub.call('acme', 'GET', `${exportsPath}/${done.job_id}`)).body).toEqual(done)
})

test('what is guessed, of another tenant or of types that the token may not read is not there', async () => {
  const { job_id } = await lab.completed('acme', { filter: { record_type: ['artifact'] } })
  expect(slugOf(await cancel('exp_guessed'))).toEqual([404, 'not-found'])
  expect(slugOf(await cancel(job_id, {}, 'globex'))).toEqual([404, 'not-found'])
  expect(slugOf(await cancel(job_id, { scopes: ['governance:read'] }))).toEqual([404, 'not-found'])
})

test('takes no body but an empty one', async () => {
  const { job_id } = await lab.completed('acme')
  const { status, body } = await cancel(job_id, { body: { force: true } })
  expect([status, body.errors[0].pointer]).toEqual([400, '/force'])
})

test('without token, scope or tenant nothing ends', async () => {
  lab.hold()
  const { job_id } = (await lab.hub.call('acme', 'POST', orderPath, { body: {} })).body
  expect(slugOf(await cancel(job_id, { token: null }))).toEqual([401, 'authentication-failed'])
  expect(slugOf(await cancel(job_id, { scopes: ['hub:write'] }))).toEqual([403, 'insufficient-scope'])
  expect(slugOf(await cancel(job_id, { headers: { 'x-service-tenant': 'globex' } }))).toEqual([403, 'invalid-tenant'])
  expect(slugOf(await cancel(job_id, { headers: { 'x-service-tenant': undefined } }))).toEqual([
    400,
    'validation-failed',
  ])
  expect((await lab.hub.call('acme', 'GET', `${exportsPath}/${job_id}`)).body.status).not.toBe('cancelled')
  await cancel(job_id)
})

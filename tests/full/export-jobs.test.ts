import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { DomainError } from '../../contract/domain-error.ts'
import { exportsOpenMax } from '../../contract/limits.ts'
import { type ExportJobsLab, exportsPath, startExportJobsLab } from '../exports/export-jobs-lab.ts'

let lab: ExportJobsLab
beforeAll(async () => {
  lab = await startExportJobsLab()
})
afterAll(() => lab.hub.stop())
afterEach(() => lab.letGo())

const cancel = (jobId: string) => lab.hub.call('acme', 'POST', `${exportsPath}/${jobId}:cancel`)
const poll = (jobId: string) => lab.hub.call('acme', 'GET', `${exportsPath}/${jobId}`)

describe('an export that runs', () => {
  test('tells how far it is, and when it will probably have ended', async () => {
    const held = lab.hold()
    const { job_id } = (await lab.order('acme')).body
    await expect.poll(() => held.length).toBe(1)
    await held[0]?.options.progress(250, 1000)
    await expect.poll(async () => (await poll(job_id)).body.progress).toEqual({ done: 250, total: 1000 })
    const { body } = await poll(job_id)
    expect(body.status).toBe('running')
    expect(body).not.toHaveProperty('download_url')
    expect(body.estimated_completion_ts > body.created_at).toBe(true)
    held[0]?.finish()
    const done = await lab.until('acme', job_id, 'completed')
    expect(done.progress).toEqual({ done: 1, total: 1 })
  })

  test('is cancelled within seconds, and leaves nothing', async () => {
    const held = lab.hold()
    const { job_id } = (await lab.order('acme')).body
    await expect.poll(() => held.length).toBe(1)
    const cancelled = await cancel(job_id)
    expect([cancelled.status, cancelled.body.status]).toEqual([200, 'cancelled'])
    await expect.poll(() => held[0]?.options.signal.aborted).toBe(true)
    expect((await cancel(job_id)).body).toEqual(cancelled.body)
    await lab.hub.modules.exports.settled()
    expect(await lab.files(job_id)).toEqual([])
    const [event] = (await lab.events('acme', 'hub.export_cancelled')).slice(-1)
    expect(event).toMatchObject({ subject: `export:${job_id}`, details: { format: 'jsonl', filter: {} } })
  })

  test('that was cancelled by another process hears of it', async () => {
    const held = lab.hold()
    const { job_id } = (await lab.order('acme')).body
    await expect.poll(() => held.length).toBe(1)
    const client = await lab.hub.superuserClient()
    await client.query("update hub.exports set status = 'cancelled' where job_id = $1", [job_id])
    await expect.poll(() => held[0]?.options.signal.aborted).toBe(true)
    expect((await poll(job_id)).body.status).toBe('cancelled')
  })

  test('that another attempt has taken over stops, and spoils nothing', async () => {
    const held = lab.hold()
    const { job_id } = (await lab.order('acme')).body
    await expect.poll(() => held.length).toBe(1)
    // The queue took the process for dead, though it is not.
    const [job] = lab.hub.modules.exports.jobs
    const second = job?.handler({ data: { tenant: 'acme', job_id }, signal: new AbortController().signal })
    await expect.poll(() => held.length).toBe(2)
    await expect.poll(() => held[0]?.options.signal.aborted).toBe(true)
    held[1]?.finish('of the second')
    await second
    expect((await lab.until('acme', job_id, 'completed')).progress.done).toBe(1)
    expect(await lab.files(job_id)).toHaveLength(2)
  })
})

describe('an export that fails', () => {
  test('is tried again while the database or the storage is away, so often and no more', async () => {
    const held = lab.hold()
    const { job_id } = (await lab.order('acme')).body
    const away = new DomainError('hub-unavailable', 'The file storage is unavailable at the moment. Try again shortly.')
    await expect.poll(() => held.length).toBe(1)
    held[0]?.fail(away)
    await expect.poll(() => held.length).toBe(2)
    held[1]?.finish()
    await lab.until('acme', job_id, 'completed')

    const second = (await lab.order('acme')).body.job_id
    await expect.poll(() => held.length).toBe(3)
    const client = await lab.hub.superuserClient()
    await client.query('update hub.exports set tries = 6 where job_id = $1', [second])
    // What an attempt reads at its beginning is what counts for it, so the next one is the last.
    held[2]?.fail(away)
    const failed = await lab.until('acme', second, 'failed')
    expect(failed.error).toMatchObject({ title: 'Internal error' })
  })

  test('for any other reason says so at once', async () => {
    const held = lab.hold()
    const { job_id } = (await lab.order('acme', { format: 'csv' })).body
    await expect.poll(() => held.length).toBe(1)
    await lab.hub.modules.storage.write(`exports/acme/${job_id}/${job_id}.csv`, Buffer.from('half'))
    held[0]?.fail(new Error('a secret from within'))
    const failed = await lab.until('acme', job_id, 'failed')
    expect(failed.error).toEqual({
      type: `${lab.hub.baseUrl}/errors/internal`,
      title: 'Internal error',
      detail: expect.stringContaining('an unexpected error'),
    })
    await expect.poll(() => lab.files(job_id)).toEqual([])
    const [event] = (await lab.events('acme', 'hub.export_failed')).slice(-1)
    expect(event).toMatchObject({
      subject: `export:${job_id}`,
      details: { actor: 'service:exports', error: 'internal', format: 'csv' },
    })
    const answer = await cancel(job_id)
    expect([answer.status, answer.body.detail]).toEqual([409, 'The export can no longer be cancelled: it is failed.'])
  })

  test('because it took too long is ended by the hourly chore', async () => {
    const client = await lab.hub.superuserClient()
    const held = lab.hold()
    const { job_id } = (await lab.order('acme')).body
    await expect.poll(() => held.length).toBe(1)
    await client.query("update hub.exports set created_at = created_at - interval '25 hours' where job_id = $1", [
      job_id,
    ])
    await lab.runChores('acme')
    expect((await lab.until('acme', job_id, 'failed')).error.detail).toContain('24 hours')
    await expect.poll(() => held[0]?.options.signal.aborted).toBe(true)
  })
})

test('a tenant with many exports keeps no other waiting, and cannot have any number', async () => {
  const held = lab.hold()
  const ids: string[] = []
  for (let ordered = 0; ordered < exportsOpenMax; ordered += 1) ids.push((await lab.order('acme')).body.job_id)
  await expect.poll(() => held.length).toBe(2)
  const refused = await lab.order('acme')
  expect([refused.status, refused.body.type.split('/').at(-1)]).toEqual([429, 'rate-limited'])
  expect(refused.body.detail).toContain(`${exportsOpenMax} exports`)
  expect(refused.headers['retry-after']).toBe('30')
  const other = (await lab.order('globex')).body.job_id
  await expect.poll(() => held.length).toBe(3)
  expect(held.map(({ order }) => order.jobId)).toContain(other)
  held.find(({ order }) => order.jobId === other)?.finish()
  await lab.until('globex', other, 'completed')
  for (const id of ids) expect((await cancel(id)).body.status).toBe('cancelled')
  expect((await lab.order('acme')).status).toBe(202)
})

test('24 hours after its completion an export has expired, and its files are deleted', async () => {
  const { job_id, download_url } = await lab.completed('acme')
  lab.advance(23.9 * 3_600_000)
  expect((await poll(job_id)).body.status).toBe('completed')
  await lab.runChores('acme')
  expect(await lab.files(job_id)).toHaveLength(2)
  lab.advance(0.2 * 3_600_000)
  const { body } = await poll(job_id)
  expect(body.status).toBe('expired')
  expect(body).not.toHaveProperty('download_url')
  expect(
    (await lab.hub.call('acme', 'GET', new URL(download_url).pathname + new URL(download_url).search)).status,
  ).toBe(403)
  const refused = await cancel(job_id)
  expect([refused.status, refused.body.detail]).toEqual([409, 'The export can no longer be cancelled: it is expired.'])
  await lab.runChores('acme')
  expect(await lab.files(job_id)).toEqual([])
  expect((await poll(job_id)).body.status).toBe('expired')
})

test('an export that may hold an erased record ends, and its files go', async () => {
  const { modules, test: db } = lab.hub
  const before = await lab.completed('acme')
  const at = before.created_at
  lab.advance(3_600_000)
  const later = await lab.completed('acme')
  const held = lab.hold()
  const running = (await lab.order('acme')).body.job_id
  await expect.poll(() => held.length).toBe(1)
  const expire = (createdAt: string, purgedAt: string) =>
    db.database.withTenant('acme', (tx) => modules.exports.expiry.expireHolding(tx, { createdAt, purgedAt }))
  // It was gone before any of them, and came after.
  await expire('2020-01-01T00:00:00.000000Z', '2020-02-01T00:00:00.000000Z')
  await expire('9999-01-01T00:00:00.000000Z', '9999-12-31T23:59:59.999999Z')
  await expire('0001-01-01T00:00:00.000000Z', '0001-01-01T00:00:00.000000Z')
  expect((await poll(before.job_id)).body.status).toBe('completed')
  await expire('2020-01-01T00:00:00.000000Z', at)
  expect((await poll(before.job_id)).body.status).toBe('expired')
  expect((await poll(later.job_id)).body.status).toBe('completed')
  await expire(at, '9998-01-01T00:00:00.000000Z')
  expect((await poll(later.job_id)).body.status).toBe('expired')
  expect((await poll(running)).body).toMatchObject({ status: 'failed', error: { title: 'Concurrent modification' } })
  await expect.poll(() => held[0]?.options.signal.aborted).toBe(true)
  await modules.exports.settled()
  for (const { job_id, download_url } of [before, later]) {
    expect(await lab.files(job_id)).toEqual([])
    const { pathname, search } = new URL(download_url)
    expect((await lab.hub.call('acme', 'GET', pathname + search)).status).toBe(403)
  }
})

test('an order that the database did not keep begins nothing', async () => {
  const { modules, test: db } = lab.hub
  const held = lab.hold()
  const queued = async () => {
    const client = await lab.hub.superuserClient()
    const { rows } = await client.query("select count(*)::int as jobs from hub_jobs.job where name = 'export'")
    return rows[0].jobs
  }
  const before = await queued()
  const undone = db.database.withTenant('acme', async (tx) => {
    await modules.jobSender.send('export', { tenant: 'acme', job_id: 'exp_none' }, { tx, group: 'acme' })
    throw new Error('not kept')
  })
  await expect(undone).rejects.toThrow('not kept')
  expect(await queued()).toBe(before)
  expect(held).toEqual([])
})

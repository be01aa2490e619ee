import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { jobSchema } from '../../server/db/job-schema.ts'
import { createLogger } from '../../server/http/request-log.ts'
import { JobSender } from '../../server/jobs/job-sender.ts'
import { JobQueue } from '../../server/jobs/queue.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

let db: TestDatabase
const warnings: string[] = []
const log = {
  info: () => {},
  warn: (details: object, message: string) =>
    void warnings.push(`${message} ${String((details as { err: unknown }).err)}`),
  error: (_: object, message: string) => void warnings.push(message),
}

beforeAll(async () => {
  db = await createTestDatabase()
})
afterAll(() => db.drop())

test('runs a job at start and a sent one, and tries a failed one again', async () => {
  const queue = new JobQueue(db.targets.app, { role: 'all', drainSeconds: 5 }, log)
  const seen: object[] = []
  let failures = 0
  queue.registerJob({
    name: 'probe',
    cron: '0 3 * * *',
    atStart: true,
    pollingIntervalSeconds: 0.5,
    handler: async ({ data }) => void seen.push(data),
  })
  queue.registerJob({
    name: 'flaky',
    retryDelaySeconds: 1,
    pollingIntervalSeconds: 0.5,
    handler: async () => {
      failures += 1
      if (failures === 1) throw new Error('the first time fails')
    },
  })
  // Does not wait for the database.
  expect(queue.start()).toBeUndefined()
  await queue.send('probe', { n: 1 })
  await queue.send('flaky', {})
  await expect.poll(() => seen.length).toBe(2)
  expect(seen).toContainEqual({ n: 1 })
  await expect.poll(() => failures).toBe(2)
  await queue.stop()
  expect(warnings).toEqual(['job failed'])
})

test('does several side by side, each for itself, and looks for more at once', async () => {
  const open = () => new JobQueue(db.targets.app, { role: 'all', drainSeconds: 5 }, { ...log, error: () => {} })
  const queue = open()
  const done: number[] = []
  let running = 0
  let runningMax = 0
  let failures = 0
  const many = {
    name: 'many',
    atOnce: 3,
    retryDelaySeconds: 1,
    handler: async ({ data }: { data: object }) => {
      running += 1
      runningMax = Math.max(runningMax, running)
      await delay(20)
      running -= 1
      const { n } = data as { n: number }
      if (n === 1 && failures++ === 0) throw new Error('the first time fails')
      done.push(n)
    },
  }
  // Longer than the test: only what is looked for at once is found.
  queue.registerJob({ ...many, pollingIntervalSeconds: 3600 })
  const sending = new JobQueue(db.targets.app, { role: 'api', drainSeconds: 5 }, log)
  sending.registerJob({ name: 'many', retryDelaySeconds: 1, handler: async () => {} })
  sending.start()
  for (let n = 0; n < 8; n += 1) await sending.send('many', { n })
  await sending.stop()
  queue.start()
  // All but the one that failed.
  await expect.poll(() => [...done].sort()).toEqual([0, 2, 3, 4, 5, 6, 7])
  expect([runningMax, failures]).toEqual([3, 1])
  await queue.stop()
  const next = open()
  next.registerJob({ ...many, pollingIntervalSeconds: 0.5 })
  next.start()
  await expect.poll(() => [...done].sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  await next.stop()
})

test('goes on after the database cut its connections', async () => {
  const queue = new JobQueue(db.targets.app, { role: 'all', drainSeconds: 5 }, log)
  let runs = 0
  queue.registerJob({
    name: 'survivor',
    pollingIntervalSeconds: 0.5,
    handler: async () => {
      runs += 1
    },
  })
  queue.start()
  await queue.send('survivor', {})
  await expect.poll(() => runs).toBe(1)
  const superuser = await db.superuserClient()
  const { rows } = await superuser.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where application_name = 'hub-jobs' and datname = current_database()`,
  )
  expect(rows.length).toBeGreaterThan(0)
  await expect
    .poll(() =>
      queue.send('survivor', {}).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true)
  await expect.poll(() => runs).toBe(2)
  await queue.stop()
})

test('only a worker works; an api process sends', async () => {
  const sender = new JobQueue(db.targets.app, { role: 'api', drainSeconds: 1 }, log)
  let runs = 0
  const job = {
    name: 'elsewhere',
    pollingIntervalSeconds: 0.5,
    handler: async () => {
      runs += 1
    },
  }
  const worker = new JobQueue(db.targets.app, { role: 'worker', drainSeconds: 1 }, log)
  worker.registerJob(job)
  worker.start()
  await worker.send('elsewhere', {})
  await expect.poll(() => runs).toBe(1)
  await worker.stop()
  sender.registerJob(job)
  sender.start()
  await sender.send('elsewhere', {})
  await delay(1500)
  await sender.stop()
  expect(runs).toBe(1)
})

test('an api process sends before any worker has ever been there', async () => {
  const seen: object[] = []
  const job = {
    name: 'first-sent',
    pollingIntervalSeconds: 0.5,
    handler: async ({ data }: { data: object }) => void seen.push(data),
  }
  const sender = new JobQueue(db.targets.app, { role: 'api', drainSeconds: 1 }, log)
  sender.registerJob(job)
  sender.start()
  await sender.send('first-sent', { n: 1 })
  await sender.stop()
  const worker = new JobQueue(db.targets.app, { role: 'worker', drainSeconds: 1 }, log)
  worker.registerJob(job)
  worker.start()
  await expect.poll(() => seen).toEqual([{ n: 1 }])
  await worker.stop()
})

test('a look for jobs that fails is logged with its message, its code and the job', async () => {
  const lines: string[] = []
  const logger = createLogger(
    { logLevel: 'info', environment: 'production' },
    { write: (line) => void lines.push(line) },
  )
  const queue = new JobQueue(db.targets.app, { role: 'all', drainSeconds: 1 }, logger)
  let isDone = false
  queue.registerJob({
    name: 'refused',
    pollingIntervalSeconds: 0.5,
    handler: async () => {
      isDone = true
    },
  })
  queue.start()
  await queue.send('refused', {})
  await expect.poll(() => isDone).toBe(true)
  const client = await db.superuserClient()
  await client.query(`revoke select, update on all tables in schema ${jobSchema} from hub_app`)
  const found = () => lines.map((line) => JSON.parse(line)).find(({ msg, queue }) => msg === 'job queue' && queue)
  await expect.poll(found).toMatchObject({
    level: 40,
    queue: 'refused',
    err: {
      type: 'Error',
      code: '42501',
      message: expect.stringContaining('permission denied'),
      stack: expect.any(String),
    },
  })
  await client.query(`grant select, update on all tables in schema ${jobSchema} to hub_app`)
  await queue.stop()
})

test('keeps trying to start while the database is away, without ending the process', async () => {
  const away = { ...db.targets.app, host: '/nonexistent' }
  const queue = new JobQueue(away, { role: 'all', drainSeconds: 1 }, log)
  queue.registerJob({ name: 'probe', handler: async () => {} })
  queue.start()
  await delay(400)
  await expect(queue.send('probe', {})).rejects.toMatchObject({ slug: 'hub-unavailable', retryAfterSeconds: 5 })
  await queue.stop()
  expect(warnings.join('\n')).toContain('ENOENT')
})

test('what is sent before there is a queue is refused for now', async () => {
  const sender = new JobSender()
  await expect(sender.send('probe', {})).rejects.toMatchObject({ slug: 'hub-unavailable' })
  const sent: unknown[] = []
  sender.connect({ send: async (...job) => void sent.push(job) })
  await sender.send('probe', { n: 1 })
  expect(sent).toEqual([['probe', { n: 1 }]])
})

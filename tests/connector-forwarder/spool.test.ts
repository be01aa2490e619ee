import { appendFile, chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openSpoolDatabase } from '../../cli/connector/spool-database.ts'
import { createSpoolIntake } from '../../cli/connector/spool-intake.ts'
import { batchPath, type ConnectorLab, eventPath, openConnectorLab, userEvent } from './connector-lab.ts'
import { startConnectorProcess } from './connector-process.ts'

let lab: ConnectorLab
beforeEach(async () => {
  lab = await openConnectorLab()
})
afterEach(() => lab.close())

const processOptions = () => ({
  hubUrl: lab.hub.url,
  tenant: 'remote',
  spool: lab.spool,
  clientId: 'client1',
  clientSecret: 'hubssecret',
})

test('events that were answered are there after a kill, and what the kill tore off is left out', async () => {
  lab.hub.tokenStatus = 503
  const killed = await startConnectorProcess(processOptions())
  const body = JSON.stringify({ events: [userEvent('a'), userEvent('b')] })
  const headers = { 'content-type': 'application/json' }
  expect((await fetch(`${killed.url}${batchPath}`, { method: 'POST', headers, body })).status).toBe(202)
  await killed.kill()
  const wal = join(lab.spool, 'spool.sqlite-wal')
  // Half of a transaction: a frame that is whole in length, of another one's bytes.
  const frames = await readFile(wal)
  await appendFile(wal, frames.subarray(32, 32 + 3000))
  lab.hub.tokenStatus = 200
  await lab.start()
  await lab.forwarded()
  expect(lab.hub.users).toEqual(['user:a', 'user:b'])
})

test('one connector works with a spool, and says so to the second; its files are for its user only', async () => {
  const first = await startConnectorProcess(processOptions())
  await expect(lab.start()).rejects.toThrow(`Another hub connector works with the spool in ${lab.spool}.`)
  for (const file of ['spool.sqlite', 'spool.sqlite-wal', 'lock.sqlite']) {
    expect((await stat(join(lab.spool, file))).mode & 0o077, file).toBe(0)
  }
  expect(await first.stop()).toBe(0)
  await lab.start()
})

test('a spool belongs to one tenant, and to its Hub while a request has no answer', async () => {
  await lab.start()
  await lab.stop()
  await expect(lab.start({ tenant: 'other' })).rejects.toThrow('The spool holds events of tenant remote, not of other.')
  await lab.leaveUnanswered('hang up', 'a')
  await expect(lab.start({ hubUrl: 'http://127.0.0.1:1' })).rejects.toThrow('may or may not have taken')
  // The same Hub by another name: it knows the key.
  await lab.start({ hubUrl: lab.hub.url.replace('127.0.0.1', 'localhost'), hubMoved: true })
  await lab.forwarded()
  expect(new Set(lab.hub.sent.map((batch) => batch.key)).size).toBe(1)
})

test('a full spool answers 503 with Retry-After, keeps what it has and takes events again', async () => {
  lab.hub.tokenStatus = 503
  await lab.start({ spoolBytesMax: 512 * 1024 })
  const events = Array.from({ length: 500 }, (_, at) => userEvent(`f${at}`))
  let accepted = 0
  let refused: Awaited<ReturnType<typeof lab.post>> | undefined
  for (let round = 0; round < 20 && refused === undefined; round++) {
    const answer = await lab.post(batchPath, { events })
    if (answer.status === 202) accepted += 500
    else refused = answer
  }
  expect(refused).toMatchObject({ status: 503, body: { type: `${lab.hub.url}/errors/hub-unavailable` } })
  expect(refused!.body.detail).toContain('--spool-max-mib')
  expect(Number(refused!.headers.get('retry-after'))).toBeGreaterThan(0)
  const health = await fetch(`${lab.url()}/v1/health`, { headers: { connection: 'close' } })
  expect(health.status).toBe(503)
  expect((await lab.status()).pending).toBe(accepted)
  await lab.stop()

  lab.hub.tokenStatus = 200
  await lab.start({ spoolBytesMax: 512 * 1024 })
  await lab.forwarded()
  expect(lab.hub.records).toHaveLength(accepted)
  expect((await lab.post(eventPath, userEvent('after'))).status).toBe(202)
})

test('a disk that fails while events are written refuses them, and loses none before or after', async () => {
  const database = openSpoolDatabase(lab.spool, { make: true })
  const intake = createSpoolIntake({ database, directory: lab.spool, bytesMax: 1e9, arrived: () => {} })
  const keep = (text: string) =>
    intake.keep({ events: [JSON.stringify(text)], answerOf: (sequences) => ({ sequences }) })
  await keep('before')
  // SQLite answers as it does when the disk is full.
  const pages = Number(database.prepare('pragma page_count').get()!.page_count)
  database.exec(`pragma max_page_count = ${pages}`)
  const large = 'x'.repeat(100_000)
  await expect(keep(large)).rejects.toMatchObject({ slug: 'hub-unavailable', retryAfterSeconds: 10 })
  database.exec('pragma max_page_count = 1000000')
  await keep('after')
  const kept = database.prepare('select event from events order by sequence').all()
  expect(kept.map(({ event }) => event)).toEqual(['"before"', '"after"'])
  database.close()
})

test('a directory that cannot be used, and a file that is no spool, are named', async () => {
  const barred = join(lab.spool, 'file')
  await writeFile(barred, '')
  await expect(lab.start({ spoolDirectory: join(barred, 'spool') })).rejects.toThrow(/cannot be made/)
  const damaged = join(lab.spool, 'damaged')
  await mkdir(damaged)
  await writeFile(
    join(damaged, 'spool.sqlite'),
    'not a database, but long enough to look like a file of one'.repeat(20),
  )
  await chmod(join(damaged, 'spool.sqlite'), 0o600)
  await expect(lab.start({ spoolDirectory: damaged })).rejects.toThrow(/is damaged/)
  const newer = join(lab.spool, 'newer')
  await mkdir(newer)
  new DatabaseSync(join(newer, 'spool.sqlite')).exec('pragma user_version = 2')
  await expect(lab.start({ spoolDirectory: newer })).rejects.toThrow(/newer version/)
})

test('a port that is taken is told, and the spool is free again', async () => {
  await lab.start()
  const { port } = new URL(lab.url())
  const other = join(lab.spool, 'other')
  const again = lab.start({ spoolDirectory: other, port: Number(port) })
  await expect(again).rejects.toMatchObject({
    message: expect.stringContaining(`Port ${port} is already in use`),
    fix: expect.stringContaining('HUB_CONNECTOR_PORT'),
  })
  await lab.stop()
  await lab.start({ spoolDirectory: other })
})

test('a shared secret is asked for where one is set', async () => {
  const sharedSecret = 's'.repeat(40)
  await lab.start({ sharedSecret })
  expect((await lab.post(eventPath, userEvent('a'))).status).toBe(401)
  expect((await lab.post(eventPath, userEvent('a'), { authorization: 'Bearer wrong' })).status).toBe(401)
  expect((await lab.post(eventPath, userEvent('a'), { authorization: `Bearer ${sharedSecret}` })).status).toBe(202)
  expect((await fetch(`${lab.url()}/status`, { headers: { connection: 'close' } })).status).toBe(401)
  expect((await fetch(`${lab.url()}/v1/health`, { headers: { connection: 'close' } })).status).toBe(200)
})

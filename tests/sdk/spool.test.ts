import { once } from 'node:events'
import { readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { connect, event, freshFolder, numbers, sinkThatIsDown } from './batcher-lab.ts'
import { eventSink } from './event-sink.ts'

test('the spool outlives the process that filled it, and loses a torn line at most', async () => {
  const directory = join(await freshFolder(), 'spool')
  const { baseUrl, stored, up } = await sinkThatIsDown()
  const spool = { directory, fsync: 'always' as const }
  const first = connect(baseUrl, { spool, maxBatchEvents: 3 })
  for (const id of numbers(7)) await first.telemetry.track(event(id))
  expect((await first.close({ timeoutMs: 0 })).accepted).toBe(0)
  const files = (await readdir(directory)).filter((name) => name.endsWith('.jsonl')).sort()
  expect(files).toHaveLength(3)
  await writeFile(join(directory, files[2]!), '{"session_id":"torn', { flag: 'a' })
  // As after a kill: locks of processes that are gone, also of one with the id of this process, as in a container.
  for (const pid of [999_999_999, process.pid]) await writeFile(join(directory, `lock-${pid}-1-x`), '')
  up()
  const second = connect(baseUrl, { spool })
  expect(await second.telemetry.flush()).toBe(true)
  expect(stored.sort()).toEqual(numbers(7))
  await second.close()
  expect(await readdir(directory)).toEqual([])
})

test('a spool has one client, whatever name, copy of the SDK or thread another one has', async () => {
  const folder = await freshFolder()
  const directory = join(folder, 'spool')
  const { baseUrl, stored, up } = await sinkThatIsDown()
  const first = connect(baseUrl, { spool: { directory }, flushIntervalMs: 3_600_000 })
  await first.telemetry.track(event('first'))
  await symlink(directory, join(folder, 'link'))
  for (const alias of [directory, `${directory}/`, join(folder, 'link')]) {
    const other = connect(baseUrl, { spool: { directory: alias } })
    await expect(other.telemetry.track(event('other'))).rejects.toThrow(/is used by process/)
  }
  const source = new URL('../../sdk/typescript/src/index.ts', import.meta.url).href
  const options = JSON.stringify({ baseUrl, tenant: 'acme', accessToken: 't', telemetry: { spool: { directory } } })
  const thread = new Worker(
    `import(${JSON.stringify(source)}).then(({ HubClient }) => new HubClient(${options}).telemetry.track({}))
       .catch((error) => error.message).then((said) => require('node:worker_threads').parentPort.postMessage(said))`,
    { eval: true },
  )
  expect(await once(thread, 'message')).toMatchObject([expect.stringContaining(`is used by process ${process.pid}`)])
  await thread.terminate()
  up()
  expect((await first.close()).accepted).toBe(1)
  expect(stored).toEqual(['first'])
})

test('two clients that start together never share a spool', async () => {
  const { baseUrl } = await eventSink()
  for (let round = 0; round < 10; round += 1) {
    const directory = await freshFolder()
    await writeFile(join(directory, 'lock-999999999-1-x'), '')
    const clients = [1, 2, 3].map(() => connect(baseUrl, { spool: { directory } }))
    const tracked = await Promise.allSettled(clients.map(({ telemetry }) => telemetry.track(event('e'))))
    expect(tracked.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(1)
    await Promise.all(clients.map((client) => client.close()))
    expect(await readdir(directory)).toEqual([])
  }
})

test('reports and counts events whose file another program deleted', async () => {
  const directory = await freshFolder()
  const { baseUrl } = await eventSink()
  const errors: unknown[] = []
  const onError = (error: unknown) => errors.push(error)
  const hub = connect(baseUrl, { spool: { directory }, flushIntervalMs: 3_600_000, onError })
  for (const id of numbers(3)) await hub.telemetry.track(event(id))
  for (const name of await readdir(directory)) if (name.endsWith('.jsonl')) await rm(join(directory, name))
  expect(await hub.telemetry.flush()).toBe(false)
  expect(errors).toMatchObject([{ name: 'TelemetryBufferError', message: expect.stringContaining('deleted the file') }])
  expect(await hub.telemetry.track(event('next'))).toBe(true)
  expect(await hub.close()).toEqual({ queued: 0, accepted: 1, rejected: 0, dropped: 3 })
})

test('a full spool refuses, and takes events again when there is room', async () => {
  const directory = await freshFolder()
  const { baseUrl, stored, up } = await sinkThatIsDown()
  const big = (id: string) => ({ ...event(id), metadata: { text: 'x'.repeat(60_000) } })
  const hub = connect(baseUrl, { spool: { directory, maxBytes: 1 << 20 }, whenFull: 'drop' })
  const kept: boolean[] = []
  for (const id of numbers(20)) kept.push(await hub.telemetry.track(big(id)))
  expect(kept.filter(Boolean)).toHaveLength(17)
  up()
  expect(await hub.telemetry.flush()).toBe(true)
  expect(await hub.telemetry.track(big('more'))).toBe(true)
  await hub.close()
  expect(stored).toHaveLength(18)
})

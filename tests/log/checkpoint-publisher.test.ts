import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { afterEach, expect, test, vi } from 'vitest'
import { EventBus } from '../../server/event-bus.ts'
import type { Tenant } from '../../server/http/caller.ts'
import {
  CheckpointPublisher,
  type PublisherTimes,
} from '../../server/modules/log/checkpoint-sinks/checkpoint-publisher.ts'
import {
  type CheckpointSink,
  LogRollbackError,
  type StoredCheckpoint,
} from '../../server/modules/log/checkpoint-sinks/checkpoint-types.ts'
import { openCheckpointWebhook } from '../../server/modules/log/checkpoint-sinks/checkpoint-webhook.ts'
import type { LogHead } from '../../server/modules/log/log-types.ts'
import { createOutbound } from '../../server/outbound/outbound.ts'
import { scaled } from '../support/machine-speed.ts'
import { openNoteMaker } from './checkpoint-notes.ts'

const a = openNoteMaker('orghub/log/a')
const b = openNoteMaker('orghub/log/b')
const tenantOf = ({ logName }: { logName: string }): Tenant => ({
  ...{ slug: 'acme', mode: 'A', hasOwnAddress: false, baseUrl: 'https://hub.example' },
  logName,
})
const quick = { intervalMs: 20, lookMs: 20, retryMs: { first: 5, max: 20 }, stopMs: scaled(1000) }

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** A place in memory, which does with a checkpoint what it is told first. */
function memorySink(before: (checkpoint: StoredCheckpoint) => unknown = () => {}) {
  const kept: [string, number][] = []
  const sink: CheckpointSink = {
    place: 'memory',
    keep: async (checkpoint) => {
      await before(checkpoint)
      kept.push([checkpoint.log_name, checkpoint.tree_size])
    },
    newest: async () => undefined,
    some: async () => [],
  }
  return { sink, kept }
}

function startKeeper(
  sinks: CheckpointSink[],
  options: {
    times?: Partial<PublisherTimes>
    continues?: (tenant: Tenant) => Promise<boolean>
    stored?: () => { tenant: Tenant; head: LogHead }[]
  } = {},
) {
  const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() }
  const mismatch = vi.fn()
  const events = new EventBus()
  events.on('checkpointMismatch', mismatch)
  const continues = options.continues ?? (async () => true)
  const keeper = new CheckpointPublisher({
    sinks,
    log,
    continues,
    events,
    times: { ...quick, ...options.times },
    storedHeads: async function* () {
      yield* options.stored?.() ?? []
    },
  })
  cleanups.push(() => keeper.stop())
  keeper.start()
  return { keeper, log, mismatch }
}

test('of many states in quick succession the first and the last of each log are kept', async () => {
  const { sink, kept } = memorySink()
  const { keeper } = startKeeper([sink], { times: { intervalMs: 200 } })
  for (let size = 1; size <= 50; size += 1) {
    keeper.headSigned(tenantOf(a), a.head(size))
    keeper.headSigned(tenantOf(b), b.head(size))
    if (size === 1) await expect.poll(() => kept.length).toBe(2)
  }
  await expect.poll(() => kept.length).toBe(4)
  expect(kept.toSorted()).toEqual([
    [a.logName, 1],
    [a.logName, 50],
    [b.logName, 1],
    [b.logName, 50],
  ])
})

test('what fails is tried again, and told of rarely; other sinks do not wait', async () => {
  let failures = 0
  const failing = memorySink(() => {
    failures += 1
    if (failures <= 6) throw new Error('it is away')
  })
  const healthy = memorySink()
  const { keeper, log } = startKeeper([failing.sink, healthy.sink])
  keeper.headSigned(tenantOf(a), a.head(1))
  await expect.poll(() => healthy.kept).toEqual([[a.logName, 1]])
  await expect.poll(() => failing.kept).toEqual([[a.logName, 1]])
  // At the first, second and fourth failure.
  expect(log.warn).toHaveBeenCalledTimes(3)
  expect(log.info).toHaveBeenCalledTimes(1)
})

test('a newer state takes the place of one that could not be kept', async () => {
  let isAway = true
  const { sink, kept } = memorySink(() => {
    if (isAway) throw new Error('it is away')
  })
  const { keeper, log } = startKeeper([sink])
  keeper.headSigned(tenantOf(a), a.head(1))
  await expect.poll(() => log.warn.mock.calls.length).toBeGreaterThan(0)
  expect(keeper.failing()).toBe(1)
  keeper.headSigned(tenantOf(a), a.head(2))
  isAway = false
  await expect.poll(() => kept).toEqual([[a.logName, 2]])
  await expect.poll(() => keeper.failing()).toBe(0)
})

test('a log that was set back is an error in the log, and is not tried for ever', async () => {
  let tries = 0
  const { sink } = memorySink(() => {
    tries += 1
    throw new LogRollbackError('later was kept', a.kept(8))
  })
  let looks = 0
  const stored = () => {
    looks += 1
    return [{ tenant: tenantOf(a), head: a.head(5) }]
  }
  const { log, mismatch } = startKeeper([sink], { stored })
  await expect.poll(() => looks).toBeGreaterThan(3)
  expect(tries).toBe(1)
  expect(log.error.mock.calls[0]?.[1]).toContain('was restored to an earlier state')
  const found = { tree_size: 5, kept_tree_size: 8, place: 'memory' }
  expect(mismatch.mock.calls).toEqual([[{ tenant: tenantOf(a), found }]])
})

test('states that others have signed are found by looking', async () => {
  const { sink, kept } = memorySink()
  let size = 3
  startKeeper([sink], { stored: () => [{ tenant: tenantOf(a), head: a.head(size) }] })
  await expect.poll(() => kept).toEqual([[a.logName, 3]])
  size = 4
  await expect.poll(() => kept.at(-1)).toEqual([a.logName, 4])
})

test('the empty log is not kept, and nothing is before the start or after the end', async () => {
  const { sink, kept } = memorySink()
  const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() }
  const continues = async () => true
  const keeper = new CheckpointPublisher({
    sinks: [sink],
    log,
    continues,
    events: new EventBus(),
    times: quick,
    storedHeads: async function* () {},
  })
  keeper.headSigned(tenantOf(a), a.head(1))
  keeper.start()
  keeper.headSigned(tenantOf(a), a.head(0))
  keeper.headSigned(tenantOf(b), b.head(1))
  await keeper.stop()
  keeper.headSigned(tenantOf(b), b.head(2))
  expect(kept).toEqual([[b.logName, 1]])
})

test('stopping keeps what waits, all of many logs, and waits no longer than it may', async () => {
  const { sink, kept } = memorySink()
  const { keeper } = startKeeper([sink], { times: { intervalMs: 60_000 } })
  const makers = Array.from({ length: 30 }, (_, i) => openNoteMaker(`orghub/log/${i}`))
  for (const size of [1, 2]) for (const maker of makers) keeper.headSigned(tenantOf(maker), maker.head(size))
  await keeper.stop()
  expect(kept.filter(([, size]) => size === 2)).toHaveLength(30)

  let release: (() => void) | undefined
  const stuck = memorySink(() => new Promise<void>((done) => (release = done)))
  const second = startKeeper([stuck.sink], { times: { stopMs: 30 } })
  second.keeper.headSigned(tenantOf(a), a.head(1))
  await second.keeper.stop()
  expect(stuck.kept).toEqual([])
  release?.()
})

test('a web address gets the line as JSON, and what it does not take with 2xx is sent again', async () => {
  const received: unknown[] = []
  const server: Server = createServer(async (request, response) => {
    received.push([request.method, request.url, request.headers['content-type'], await json(request)])
    response.writeHead(received.length === 1 ? 500 : 204).end()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  cleanups.push(() => server.close())
  const outbound = createOutbound({ environment: 'production', outboundAllow: ['127.0.0.1'] })
  cleanups.push(() => outbound.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?secret=s3cret`
  let isContinued = true
  const { keeper, log, mismatch } = startKeeper([openCheckpointWebhook(url, outbound)], {
    continues: async () => isContinued,
  })
  keeper.headSigned(tenantOf(a), a.head(7))
  await expect.poll(() => received.length).toBe(2)
  const body = { ...a.kept(7), kept_at: expect.stringMatching(/^\d{4}-.*Z$/) }
  expect(received[1]).toEqual(['POST', '/hook?secret=s3cret', 'application/json', body])
  expect(received[0]).toEqual(received[1])
  expect(JSON.stringify(log.warn.mock.calls)).not.toContain('s3cret')

  isContinued = false
  keeper.headSigned(tenantOf(a), a.head(8))
  await expect.poll(() => mismatch.mock.calls.length).toBe(1)
  expect(mismatch.mock.calls[0]?.[0]).toMatchObject({ found: { tree_size: 8, kept_tree_size: 7 } })
  expect(received).toHaveLength(2)
})

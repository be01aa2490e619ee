import { afterEach, beforeEach, expect, test } from 'vitest'
import { createSpoolDecisions } from '../../cli/connector/spool-admin.ts'
import { openSpoolDatabase } from '../../cli/connector/spool-database.ts'
import { freePort } from '../support/free-port.ts'
import { type ConnectorLab, openConnectorLab } from './connector-lab.ts'

let lab: ConnectorLab
beforeEach(async () => {
  lab = await openConnectorLab()
})
afterEach(() => lab.close())

const keys = () => lab.hub.sent.map((batch) => batch.key)
const dayMs = 86_400_000

/** What the commands see and decide, beside the connector. */
function decide<Result>(work: (decisions: ReturnType<typeof createSpoolDecisions>) => Result): Result {
  const database = openSpoolDatabase(lab.spool, { make: false })
  try {
    return work(createSpoolDecisions(database))
  } finally {
    database.close()
  }
}

test('events of many producers go out in batches, each under a key of its own', async () => {
  await lab.start()
  await Promise.all(Array.from({ length: 30 }, (_, at) => lab.accept(`p${at}.0`, `p${at}.1`)))
  const status = await lab.forwarded()
  expect(status.totals).toEqual({ accepted: 60, forwarded: 60, refused: 0, dropped: 0 })
  expect(status.last_forwarded_at).toMatch(/Z$/)
  expect(new Set(lab.hub.users).size).toBe(60)
  expect(lab.hub.records).toHaveLength(60)
  expect(lab.hub.sent.length).toBeLessThan(30)
  expect(new Set(keys()).size).toBe(lab.hub.sent.length)
})

test('a lost answer is asked for again with the same key and the same events', async () => {
  lab.hub.turns.push(
    'take and hang up',
    'hang up',
    { status: 503, slug: 'hub-unavailable' },
    { status: 500, slug: 'internal' },
  )
  await lab.start()
  await lab.accept('a', 'b')
  await lab.forwarded()
  expect(new Set(keys()).size).toBe(1)
  expect(lab.hub.sent.map((batch) => batch.users)).toEqual(Array(5).fill(['user:a', 'user:b']))
  expect(lab.hub.users).toEqual(['user:a', 'user:b'])
})

test('a restart between sending and answer repeats the request as it was', async () => {
  await lab.leaveUnanswered('take and hang up', 'a', 'b')
  await lab.start()
  await lab.accept('c')
  await lab.forwarded()
  expect(lab.hub.sent[1]).toMatchObject({ key: keys()[0], users: ['user:a', 'user:b'] })
  expect(lab.hub.users).toEqual(['user:a', 'user:b', 'user:c'])
})

test('Retry-After is waited for, and goes before a shorter pause', async () => {
  lab.hub.turns.push({ status: 429, slug: 'rate-limited', retryAfter: 1 })
  await lab.start()
  await lab.accept('a')
  await expect.poll(() => lab.hub.sent.length).toBe(1)
  await expect.poll(async () => (await lab.status()).activity).toBe('waiting')
  expect((await lab.status()).last_error?.message).toContain('429')
  await lab.forwarded()
  expect(lab.hub.sent[1]!.atMs - lab.hub.sent[0]!.atMs).toBeGreaterThanOrEqual(990)
})

test('a token that is no longer taken is renewed once; a wrong secret is told and nothing is sent', async () => {
  lab.hub.turns.push({ status: 401, slug: 'authentication-failed' })
  await lab.start()
  await lab.accept('a')
  await lab.forwarded()
  expect(lab.hub.sent.map((batch) => batch.token)).toEqual(['Bearer token-1', 'Bearer token-2'])

  await lab.stop()
  lab.hub.tokenStatus = 401
  await lab.start()
  await lab.accept('b')
  await expect.poll(async () => (await lab.status()).last_error?.message).toContain('No token: 401')
  expect(lab.hub.sent).toHaveLength(2)
  lab.hub.tokenStatus = 200
  await lab.forwarded()
})

test('an account that may not write telemetry sends nothing', async () => {
  lab.hub.scope = 'telemetry:read'
  await lab.start()
  await lab.accept('a')
  await expect.poll(async () => (await lab.status()).last_error?.message).toContain('no scope telemetry:write')
  expect(lab.hub.sent).toHaveLength(0)
})

test('a wrong secret is told at the start, before there is an event, and mending it is noticed', async () => {
  lab.hub.tokenStatus = 401
  await lab.start()
  await expect.poll(async () => (await lab.status()).last_error?.message).toContain('No token: 401')
  expect(await lab.status()).toMatchObject({ activity: 'waiting', pending: 0 })
  lab.hub.tokenStatus = 200
  await expect.poll(async () => (await lab.status()).activity).toBe('idle')
})

test('a Hub that is away at the start is told, and asked again with the first event', async () => {
  lab.hub.tokenStatus = 503
  await lab.start()
  await expect.poll(async () => (await lab.status()).last_error?.message).toContain('No token: 503')
  expect((await lab.status()).activity).toBe('idle')
  lab.hub.tokenStatus = 200
  await lab.accept('a')
  await lab.forwarded()
})

test('nothing counts as forwarded when the Hub has refused all of it', async () => {
  lab.hub.unwelcome.add('user:a')
  await lab.start()
  await lab.accept('a')
  const status = await lab.forwarded()
  expect(status.totals).toMatchObject({ forwarded: 0, refused: 1 })
  expect(status.last_forwarded_at).toBeUndefined()
})

test('refused events whose reason the answer leaves out are kept, and no event is sent again', async () => {
  const users = Array.from({ length: 120 }, (_, at) => `n${at}`)
  for (const user of users) lab.hub.unwelcome.add(`user:${user}`)
  await lab.start()
  await lab.accept(...users.slice(0, 60), 'a', ...users.slice(60))
  const status = await lab.forwarded()
  expect(status).toMatchObject({ refused: 120, totals: { accepted: 121, forwarded: 1, refused: 120 } })
  expect([lab.hub.sent.length, lab.hub.users]).toEqual([1, ['user:a']])
  const reasons = decide((decisions) => decisions.refused(1000)).map(({ slug }) => slug)
  expect([...new Set(reasons)].sort()).toEqual(['skill-not-registered', 'validation-failed'])
  expect(reasons.filter((slug) => slug === 'validation-failed')).toHaveLength(20)
})

test('refused events are kept with the reason, the others go through; they can be sent again or dropped', async () => {
  lab.hub.unwelcome.add('user:b')
  await lab.start()
  await lab.accept('a', 'b', 'c')
  const status = await lab.forwarded()
  expect(status).toMatchObject({ refused: 1, totals: { accepted: 3, forwarded: 2, refused: 1 } })
  const [refused] = decide((decisions) => decisions.refused(10))
  expect(refused).toMatchObject({
    slug: 'skill-not-registered',
    status: 422,
    detail: '/skill_id must be a registered skill',
  })
  expect(refused!.event).toMatchObject({ user_id: 'user:b' })

  lab.hub.unwelcome.clear()
  expect(decide((decisions) => decisions.retryRefused())).toBe(1)
  await expect.poll(() => lab.hub.users).toEqual(['user:a', 'user:b', 'user:c'])
  expect((await lab.forwarded()).refused).toBe(0)

  lab.hub.unwelcome.add('user:d')
  await lab.accept('d')
  await lab.forwarded()
  expect(decide((decisions) => decisions.dropRefused())).toBe(1)
  expect(await lab.status()).toMatchObject({ refused: 0, totals: { dropped: 1 } })
})

test('a request that is refused whole is split until the event that is the cause stands alone', async () => {
  lab.hub.poison.add('user:e5')
  await lab.start()
  await lab.accept(...Array.from({ length: 16 }, (_, at) => `e${at}`))
  const status = await lab.forwarded()
  expect(status).toMatchObject({ refused: 1, totals: { accepted: 16, forwarded: 15 } })
  expect(lab.hub.records).toHaveLength(15)
  expect(lab.hub.users).not.toContain('user:e5')
})

test('what a proxy says refuses nothing for good', async () => {
  lab.hub.turns.push({ status: 400, html: true }, { status: 403, html: true }, { status: 302, html: true })
  await lab.start()
  await lab.accept('a')
  expect(await lab.forwarded()).toMatchObject({ refused: 0, totals: { forwarded: 1 } })
  expect(new Set(keys()).size).toBe(1)
})

test('what is too much for a proxy goes through in smaller requests', async () => {
  lab.hub.turns.push({ status: 413, html: true })
  await lab.start()
  await lab.accept('a', 'b', 'c', 'd')
  expect(await lab.forwarded()).toMatchObject({ refused: 0, totals: { forwarded: 4 } })
  expect(lab.hub.sent.map((batch) => batch.users.length)).toEqual([4, 2, 2])
  expect(lab.hub.users).toEqual(['user:a', 'user:b', 'user:c', 'user:d'])
})

test('a tenant that is not ready keeps its events waiting', async () => {
  lab.hub.turns.push({ status: 422, slug: 'hub-not-provisioned' }, { status: 403, slug: 'insufficient-scope' })
  await lab.start()
  await lab.accept('a')
  expect(await lab.forwarded()).toMatchObject({ refused: 0, totals: { forwarded: 1 } })
})

test('while the Hub is away events wait, also through restarts, and leave no doubt', async () => {
  const hubUrl = `http://127.0.0.1:${await freePort()}`
  await lab.start({ hubUrl })
  await lab.accept('a')
  await expect.poll(async () => (await lab.status()).last_error?.message).toContain('ECONNREFUSED')
  expect(await lab.status()).toMatchObject({ pending: 1, oldest_pending_seconds: expect.any(Number) })
  await lab.stop()
  // No request was sent, so another address may be named, and no age matters.
  lab.hub.aheadMs = 3 * dayMs
  await lab.start()
  await lab.forwarded()
  expect(lab.hub.users).toEqual(['user:a'])
  expect(lab.hub.queries).toHaveLength(0)
})

test('stopping finishes the batch in flight', async () => {
  await lab.start()
  await lab.accept('a')
  await expect.poll(() => lab.hub.sent.length).toBe(1)
  await lab.stop()
  await lab.start()
  expect(await lab.status()).toMatchObject({ pending: 0, totals: { forwarded: 1 } })
  expect(lab.hub.sent).toHaveLength(1)
})

/** A batch that was sent without an answer, longer ago than the Hub keeps keys. */
async function leaveOldBatch(taken: boolean, daysLater = 2): Promise<void> {
  await lab.leaveUnanswered(taken ? 'take and hang up' : 'hang up', 'a', 'b')
  lab.hub.forgetKeys()
  lab.hub.aheadMs = daysLater * dayMs
  await lab.start()
}

test.each([true, false])('after a day the Hub is asked whether it has the batch; it has: %s', async (taken) => {
  await leaveOldBatch(taken)
  const status = await lab.forwarded()
  expect(status).toMatchObject({ uncertain: { batches: 0, events: 0 }, totals: { accepted: 2, forwarded: 2 } })
  expect(lab.hub.users).toEqual(['user:a', 'user:b'])
  expect(lab.hub.sent).toHaveLength(taken ? 1 : 2)
  const query = Object.fromEntries(lab.hub.queries[0]!)
  expect(query).toMatchObject({ record_type: 'telemetry_event', created_by: 'client1', include_purged: 'true' })
  expect(Date.parse(query.created_at__gte!)).toBeLessThan(Date.now())
  expect(Date.parse(query.created_at__lt!)).toBeGreaterThan(Date.now())
})

test('without telemetry:read it is put aside, the rest goes on, and a person decides', async () => {
  lab.hub.scope = 'telemetry:write'
  await leaveOldBatch(true)
  await lab.accept('c')
  const status = await lab.forwarded()
  expect(status.uncertain).toEqual({ batches: 1, events: 2 })
  expect(lab.hub.users).toEqual(['user:a', 'user:b', 'user:c'])
  const [batch] = decide((decisions) => decisions.uncertain())
  expect(batch).toMatchObject({ key: keys()[0], events: 2, reason: expect.stringContaining('telemetry:read') })
  expect(lab.log.join('')).toContain('a batch is uncertain')
  expect(decide((decisions) => decisions.dropUncertain('other'))).toBe(0)
  expect(decide((decisions) => decisions.dropUncertain(batch!.key))).toBe(2)
  expect(await lab.status()).toMatchObject({ pending: 0, uncertain: { batches: 0, events: 0 }, totals: { dropped: 2 } })
  expect(lab.hub.records).toHaveLength(3)
})

test('a batch put aside is sent again when somebody says so, and asked about again after a restart', async () => {
  lab.hub.scope = 'telemetry:write'
  await leaveOldBatch(false)
  await expect.poll(async () => (await lab.status()).uncertain.batches).toBe(1)
  const [batch] = decide((decisions) => decisions.uncertain())
  expect(decide((decisions) => decisions.resendUncertain(batch!.key))).toBe(2)
  await expect.poll(() => lab.hub.users).toEqual(['user:a', 'user:b'])
  await lab.forwarded()

  await lab.stop()
  lab.hub.aheadMs = 0
  lab.hub.scope = 'telemetry:write telemetry:read'
  lab.hub.records.length = 0
  await lab.leaveUnanswered('take and hang up', 'd', 'e')
  lab.hub.aheadMs = 2 * dayMs
  lab.hub.records.pop()
  await lab.start()
  await expect.poll(async () => (await lab.status()).uncertain).toEqual({ batches: 1, events: 2 })
  expect(decide((decisions) => decisions.uncertain())[0]!.reason).toContain('1 of its 2 events')
  await lab.stop()
  lab.hub.records.length = 0
  await lab.start()
  await lab.forwarded()
  expect(lab.hub.users).toEqual(['user:d', 'user:e'])
})

test('a batch that is older than what the Hub keeps of purged records is left to a person', async () => {
  await leaveOldBatch(true, 30)
  await expect.poll(async () => (await lab.status()).uncertain.events).toBe(2)
  expect(decide((decisions) => decisions.uncertain())[0]!.reason).toContain('erased')
})

import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { HubClient, type RejectedEvent } from '../../sdk/typescript/src/index.ts'
import { connect, down, event, known, numbers, runProgram, sinkThatIsDown } from './batcher-lab.ts'
import { eventSink } from './event-sink.ts'
import { answerJson, answerProblem, serve, stubHub } from './stub-hub.ts'

test('sends batches bounded by count, bytes and time', async () => {
  const { baseUrl, requests, stored } = await eventSink()
  const sizes = () => requests.map(({ body }) => JSON.parse(body).events.length)
  const byCount = connect(baseUrl, { maxBatchEvents: 10, flushIntervalMs: 3_600_000 })
  for (const id of numbers(25)) expect(await byCount.telemetry.track(event(id))).toBe(true)
  await expect.poll(() => stored.length).toBe(20)
  expect(await byCount.telemetry.flush()).toBe(true)
  expect(sizes()).toEqual([10, 10, 5])
  expect(byCount.telemetry.stats).toEqual({ queued: 0, accepted: 25, rejected: 0, dropped: 0 })

  const byBytes = connect(baseUrl, { maxBatchBytes: 1024, flushIntervalMs: 3_600_000 })
  for (const id of numbers(20)) await byBytes.telemetry.track(event(id))
  await byBytes.close()
  expect(Math.max(...requests.slice(3).map(({ body }) => body.length))).toBeLessThan(1100)
  expect(stored).toHaveLength(45)

  await connect(baseUrl, { flushIntervalMs: 20 }).telemetry.track(event('late'))
  await expect.poll(() => stored.at(-1)).toBe('late')
})

test('a full buffer makes callers wait for room, or drops and counts', async () => {
  const { baseUrl, stored, up } = await sinkThatIsDown()
  const bounds = { maxBatchEvents: 2, maxBufferedEvents: 4, concurrency: 1 }
  const waiting = connect(baseUrl, bounds)
  let tracked = 0
  const track = async (id: string) => {
    await waiting.telemetry.track(event(id))
    tracked += 1
  }
  // Four fit, four wait; more callers than fit may not wait.
  const all = Promise.allSettled(numbers(12).map(track))
  await expect.poll(() => tracked).toBe(4)
  const dropping = connect(baseUrl, { ...bounds, whenFull: 'drop' })
  const kept = await Promise.all(numbers(10).map((id) => dropping.telemetry.track(event(`d${id}`))))
  expect(kept.filter(Boolean)).toHaveLength(4)
  expect(dropping.telemetry.stats.dropped).toBe(6)
  const impatient = connect(baseUrl, { ...bounds, fullWaitMs: 10 })
  for (const id of numbers(4)) await impatient.telemetry.track(event(`i${id}`))
  await expect(impatient.telemetry.track(event('late'))).rejects.toMatchObject({ name: 'TelemetryBufferError' })
  up()
  expect((await all).filter(({ status }) => status === 'fulfilled')).toHaveLength(8)
  expect(await waiting.close()).toEqual({ queued: 0, accepted: 8, rejected: 0, dropped: 0 })
  expect(stored.filter((id) => id.startsWith('e')).sort()).toEqual(numbers(8))
})

test('bounds the bytes of callers that wait for room', async () => {
  const { baseUrl, stored, up } = await sinkThatIsDown()
  const hub = connect(baseUrl, { maxBufferedBytes: 64 * 1024, maxBatchEvents: 1 })
  const large = { metadata: { text: 'x'.repeat(30_000) } }
  let rejected = 0
  // Two fit, two wait.
  const all = numbers(6).map((id) => hub.telemetry.track({ ...event(id), ...large }))
  for (const each of all) each.catch(() => rejected++)
  await expect.poll(() => rejected).toBe(2)
  up()
  const ended = await Promise.allSettled(all)
  expect(ended.map(({ status }) => status === 'fulfilled')).toEqual([true, true, true, true, false, false])
  expect(ended[5]).toMatchObject({ reason: { name: 'TelemetryBufferError' } })
  await hub.close()
  expect(stored.sort()).toEqual(numbers(4))
})

test('keeps sending with one key while the Hub is away or refuses the account', async () => {
  const answers = [down, answerProblem(401, 'authentication-failed'), answerJson(404, {})]
  const errors: unknown[] = []
  const { baseUrl, requests, stored } = await eventSink((response) => {
    const answer = answers.shift()
    answer?.(response)
    return answer !== undefined
  })
  const hub = connect(baseUrl, { onError: (error) => errors.push(error) })
  await hub.telemetry.track(event('kept'))
  expect((await hub.close()).accepted).toBe(1)
  expect(stored).toEqual(['kept'])
  expect(errors).toHaveLength(3)
  expect(new Set(requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
  await expect(hub.telemetry.track(event('after'))).rejects.toThrow(/closed/)
})

test('sends a batch again after a successful response that is not one of the Hub', async () => {
  const bodies = ['', '{}', '[]']
  const errors: unknown[] = []
  const { baseUrl, stored } = await eventSink((response) => {
    const body = bodies.shift()
    if (body !== undefined) response.writeHead(200).end(body)
    return body !== undefined
  })
  const hub = connect(baseUrl, { onError: (error) => errors.push(error) })
  await hub.telemetry.track(event('kept'))
  expect(await hub.close({ timeoutMs: 60_000 })).toEqual({ queued: 0, accepted: 1, rejected: 0, dropped: 0 })
  expect(stored).toEqual(['kept'])
  expect(errors.map((error) => (error as Error).name)).toEqual(Array(3).fill('HubConnectionError'))
})

test('reports refused events, and sends the others of a refused request', async () => {
  const rejected: RejectedEvent[] = []
  let requests = 0
  const { baseUrl, stored } = await eventSink((response) => {
    requests += 1
    const errors = [{ pointer: '/events/1/metadata', detail: 'is not allowed' }]
    const problem = { type: 'https://h/errors/content-not-allowed', title: 'Content', status: 400, detail: 'd', errors }
    if (requests === 1) answerJson(400, problem)(response)
    return requests === 1
  })
  const hub = connect(baseUrl, { onRejected: (some) => rejected.push(...some) })
  for (const id of numbers(3)) await hub.telemetry.track(event(id))
  expect(await hub.close()).toEqual({ queued: 0, accepted: 2, rejected: 1, dropped: 0 })
  expect(stored).toEqual(['e0', 'e2'])
  expect(rejected).toMatchObject([{ event: { session_id: 'e1' }, reason: '/events/1/metadata is not allowed' }])
})

test.each([
  ['the Hub', 'records'],
  ['the forwarder', 'events'],
])('reports each refused event of a batch, also those that the response of %s does not list', async (_, receipts) => {
  const rejected: RejectedEvent[] = []
  const refused = numbers(130).filter((id) => id !== 'e7' && id !== 'e120')
  const { baseUrl } = await eventSink((response) => {
    const indexes = refused.map((id) => Number(id.slice(1)))
    const errors = indexes.slice(0, 100).map((index) => ({ index, title: 'Unknown skill', detail: `/events/${index}` }))
    const counts = { accepted: 2, failed: refused.length, errors_omitted: refused.length - errors.length }
    answerJson(201, { ...counts, [receipts]: [{ index: 7 }, { index: 120 }], errors })(response)
    return true
  })
  const hub = connect(baseUrl, { onRejected: (some) => rejected.push(...some) })
  for (const id of numbers(130)) await hub.telemetry.track(event(id))
  expect(await hub.close()).toEqual({ queued: 0, accepted: 2, rejected: 128, dropped: 0 })
  expect(rejected.map((one) => one.event.session_id)).toEqual(refused)
  expect(rejected[0]?.reason).toBe('Unknown skill: /events/0')
  expect(rejected[127]?.reason).toContain('lists the reasons of other events')
})

test.each([
  ['the Hub', answerProblem(413, 'payload-too-large')],
  ['a proxy', answerJson(413, {})],
])('halves a batch that is too large for %s, and refuses a single event', async (_, tooLarge) => {
  const rejected: RejectedEvent[] = []
  const sizes: number[] = []
  const { baseUrl, requests, stored } = await eventSink((response, { body }) => {
    sizes.push(JSON.parse(body).events.length)
    const isTooLarge = body.length > 600
    if (isTooLarge) tooLarge(response)
    return isTooLarge
  })
  const hub = connect(baseUrl, { concurrency: 1, onRejected: (some) => rejected.push(...some) })
  const large = { metadata: { text: 'x'.repeat(600) } }
  for (const id of numbers(8)) await hub.telemetry.track({ ...event(id), ...(id === 'e4' && large) })
  expect(await hub.telemetry.flush()).toBe(true)
  // Nothing as large as what was refused before is sent in one piece.
  expect(sizes).toEqual([8, 4, 2, 2, 1, 1, 2])
  for (const id of numbers(12).slice(8)) await hub.telemetry.track(event(id))
  expect(await hub.close()).toEqual({ queued: 0, accepted: 11, rejected: 1, dropped: 0 })
  expect(sizes.slice(7)).toEqual([2, 2])
  expect(stored).toEqual(numbers(12).filter((id) => id !== 'e4'))
  expect(rejected).toMatchObject([{ event: { session_id: 'e4' }, reason: expect.stringContaining('413') }])
  expect(new Set(requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(requests.length)
})

test('refuses what no bound allows', async () => {
  const { baseUrl } = await eventSink()
  const huge = { ...event('huge'), metadata: { text: 'x'.repeat(70_000) } }
  await expect(connect(baseUrl).telemetry.track(huge)).rejects.toThrow(RangeError)
  for (const bad of [{ maxBatchEvents: 1001 }, { concurrency: 0 }, { maxBatchBytes: Number.NaN }, { whenFull: 'x' }])
    expect(() => connect(baseUrl, { spool: { directory: '/x' }, ...bad } as never)).toThrow()
})

test('trace measures a call, and passes on what it returns and throws', async () => {
  const { baseUrl, requests } = await eventSink()
  const hub = connect(baseUrl)
  const answer = await hub.telemetry.trace(known, async (call) => {
    call.set({ tokens_in: 7, llm_model: 'm' })
    return 'done'
  })
  const failure = Object.assign(new Error('secret words'), { code: 'E LIMIT' })
  await expect(hub.telemetry.trace(known, () => Promise.reject(failure))).rejects.toBe(failure)
  await hub.close()
  expect(answer).toBe('done')
  const events = JSON.parse(requests[0]!.body).events
  expect(events).toMatchObject([
    { ...known, success: true, tokens_in: 7, tokens_out: 0, llm_model: 'm' },
    { success: false, error_code: 'E_LIMIT' },
  ])
  for (const { latency_ms } of events) expect(latency_ms).toBeGreaterThan(0)
  expect(requests[0]!.body).not.toContain('secret words')
})

test('handlers that throw lose no event, and change no count', async () => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue()
  onTestFinished(() => warn.mockRestore())
  let requests = 0
  const { baseUrl, stored } = await eventSink((response) => {
    requests += 1
    if (requests === 1) down(response)
    if (requests === 2) answerProblem(422, 'validation-failed')(response)
    return requests < 3
  })
  const thrown: unknown[] = []
  const hub = connect(baseUrl, {
    maxBufferedEvents: 1,
    onRejected: async () => {
      throw new Error('in onRejected')
    },
    onError: (error) => {
      thrown.push(error)
      throw new Error('in onError')
    },
  })
  await hub.telemetry.track(event('refused'))
  expect(await hub.telemetry.flush()).toBe(true)
  await hub.telemetry.track(event('kept'))
  expect(await hub.close()).toEqual({ queued: 0, accepted: 1, rejected: 1, dropped: 0 })
  expect(stored).toEqual(['kept'])
  expect(thrown).toMatchObject([{ status: 503 }, { message: 'in onRejected' }])
  expect(warn.mock.calls).toEqual([[expect.stringContaining('telemetry.onError threw: Error')]])
})

test('a refused account is the cause of a full buffer, and one warning without a secret', async () => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue()
  onTestFinished(() => warn.mockRestore())
  const { baseUrl } = await eventSink((response) => {
    answerProblem(401, 'authentication-failed', { 'retry-after': '0' })(response)
    return true
  })
  const options = { baseUrl, tenant: 'acme', clientId: 'svc_a', clientSecret: 'the secret words' }
  const hub = new HubClient({ ...options, telemetry: { maxBufferedEvents: 1, maxBatchEvents: 1, fullWaitMs: 300 } })
  onTestFinished(() => void hub.close({ timeoutMs: 0 }))
  await hub.telemetry.track(event('first'))
  const cause = { status: 401, slug: 'authentication-failed' }
  await expect(hub.telemetry.track(event('late'))).rejects.toMatchObject({
    ...{ name: 'TelemetryBufferError', message: expect.stringContaining('401 authentication-failed'), cause },
  })
  expect(hub.telemetry.stats).toMatchObject({ queued: 1, lastError: cause })
  expect(warn.mock.calls).toEqual([[expect.stringContaining('401 authentication-failed')]])
  expect(String(warn.mock.calls)).not.toContain('secret words')
})

test('a warning says that a token is malformed, and does not quote it', async () => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue()
  onTestFinished(() => warn.mockRestore())
  const { baseUrl } = await eventSink()
  const hub = new HubClient({ baseUrl, tenant: 'acme', accessToken: 'secret\nwords' })
  onTestFinished(() => void hub.close({ timeoutMs: 0 }))
  await hub.telemetry.track(event('first'))
  expect(await hub.telemetry.flush({ timeoutMs: 300 })).toBe(false)
  expect(warn.mock.calls).toEqual([[expect.stringContaining('The access token is empty, or has other characters')]])
  expect(String(warn.mock.calls)).not.toContain('secret')
})

test('a program that ends by itself sends what it tracked', async () => {
  const { baseUrl, stored } = await eventSink()
  await runProgram(`
    const hub = new HubClient({ baseUrl: '${baseUrl}', tenant: 'acme', accessToken: 't', telemetry: { flushIntervalMs: 3600000 } })
    await hub.telemetry.track(${JSON.stringify(event('at-exit'))})`)
  expect(stored).toEqual(['at-exit'])
})

test('closes in time while a token is requested', async () => {
  const account = { baseUrl: await serve(() => undefined), tenant: 'acme', clientId: 'c', clientSecret: 's' }
  const byFunction = {
    baseUrl: account.baseUrl,
    tenant: 'acme',
    accessToken: () => new Promise<string>(() => undefined),
  }
  for (const options of [account, byFunction]) {
    const hub = new HubClient(options)
    await hub.telemetry.track(event('waiting'))
    const late = delay(30_000, 'late', { ref: false })
    expect(await Promise.race([hub.close({ timeoutMs: 50 }), late])).toMatchObject({ queued: 1 })
  }
})

test('a program waits for the token of its own calls, and does not wait for that of events', async () => {
  const token = answerJson(200, { access_token: 't', expires_in: 600 })
  const busy = await stubHub(down, token, answerJson(200, { answer: 42 }))
  const account = (baseUrl: string) => `baseUrl: '${baseUrl}', tenant: 'acme', clientId: 'c', clientSecret: 's'`
  expect(await runProgram(`console.log((await new HubClient({ ${account(busy.baseUrl)} }).get('/x')).answer)`)).toBe(
    '42\n',
  )
  const limited = await stubHub(answerProblem(429, 'rate-limited', { 'retry-after': '100' }))
  await runProgram(`
    const hub = new HubClient({ ${account(limited.baseUrl)}, telemetry: { exitFlushMs: 100 } })
    await hub.telemetry.track(${JSON.stringify(event('lost'))})`)
  expect(limited.requests).toHaveLength(1)
})

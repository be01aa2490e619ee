import { copyFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { lockFile } from '../../cli/connector/spool-database.ts'
import { type ImportOptions, importFile } from '../../cli/import/import-file.ts'
import type { ImportState } from '../../cli/import/import-state.ts'
import type { Scope } from '../../contract/scopes.ts'
import { startHub, type TestHub, type TestTenant } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'

const examples = resolve(import.meta.dirname, '../../examples/import')
const defaults = { skill: 'sum-up', archetype: 'support-agent', user: 'user:kim@example.com' }

let hub: TestHub
let directory: string
let files = 0

beforeAll(async () => {
  hub = await startHub()
  directory = await mkdtemp(join(tmpdir(), 'hub-import-'))
  for (const tenant of ['acme', 'globex', 'cmode'] as const) {
    const archetypes = ['analyst', 'support-agent'].map((archetype_id) => ({ archetype_id }))
    await hub.modules.roster.archetypes.replace(await hub.tenant(tenant), archetypes, { operator: 'test' })
    for (const skill_id of ['sum-up', 'summarise-ticket']) {
      await hub.call(tenant, 'POST', '/api/v1/hub/records', {
        body: { record_type: 'skill_definition', skill_id, skill_version: '1.0.0', name: skill_id },
      })
    }
  }
})

afterAll(async () => {
  await hub.stop()
  await rm(directory, { recursive: true, force: true })
})

afterEach(() => vi.restoreAllMocks())

async function targetOf(tenant: TestTenant, scopes: readonly Scope[] = ['telemetry:write']) {
  const account = await hub.modules.auth.serviceAccounts.create(
    await hub.tenant(tenant),
    { name: `import ${++files}`, scopes: [...scopes] },
    { operator: 'test' },
  )
  return { baseUrl: hub.baseUrl, tenant, clientId: account.client_id, clientSecret: account.client_secret }
}

async function fileOf(content: string | Buffer, name = 'usage.jsonl'): Promise<string> {
  const path = join(directory, `${++files}-${name}`)
  await writeFile(path, content)
  return path
}

async function copyOf(example: string): Promise<string> {
  const path = join(directory, `${++files}-${example}`)
  await copyFile(join(examples, example), path)
  return path
}

const lines = (events: object[]) => events.map((each) => `${JSON.stringify(each)}\n`).join('')

async function run(path: string, options: Partial<ImportOptions> = {}, tenant: TestTenant = 'acme') {
  return importFile(path, await targetOf(tenant), { from: 'events', defaults: {}, ...options }, () => {})
}

async function stored(from: string, tenant: TestTenant = 'acme') {
  const query = `record_type=telemetry_event&limit=1000&sort=created_at&created_at__gte=${from}`
  const { body } = await hub.call(tenant, 'GET', `/api/v1/hub/records?${query}`)
  return body.records as Record<string, unknown>[]
}

const now = () => new Date().toISOString()

describe('the examples', () => {
  const common = { skill_id: 'summarise-ticket', archetype_id: 'support-agent', user_id: 'user:kim@example.com' }
  const cases: [string, string, object[]][] = [
    [
      'events.jsonl',
      'events',
      [
        { ...common, ts: '2026-01-05T09:30:00.123456Z', success: true, cost_usd_estimate: 0.0084 },
        { ...common, success: false, error_code: 'rate_limited', session_id: 'support-chat-8812' },
      ],
    ],
    [
      'events.csv',
      'events',
      [
        { ...common, success: true, latency_ms: 1840, metadata: { channel: 'email' } },
        { ...common, success: false, error_code: 'rate_limited', latency_ms: 220 },
      ],
    ],
    [
      'langfuse-observations.jsonl',
      'langfuse-export',
      [
        {
          ...common,
          skill_id: 'sum-up',
          llm_platform: 'claude',
          llm_model: 'claude-sonnet-4-5',
          ts: '2026-01-05T09:30:00.123000Z',
          latency_ms: 1840,
          tokens_in: 1250,
          tokens_out: 310,
          cost_usd_estimate: 0.0084,
          trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
          span_id: '6e0c63257de34c92',
          parent_span_id: '00f067aa0ba902b7',
          session_id: 'support-chat-8812',
          metadata: { source: 'langfuse', observation_id: '6e0c63257de34c92' },
        },
        { llm_platform: 'chatgpt', success: false, error_code: 'error', tokens_in: 900, latency_ms: 400 },
      ],
    ],
    [
      'litellm-spend-logs.json',
      'litellm-spend-logs',
      [
        { ...common, llm_platform: 'claude', llm_model: 'claude-sonnet-4-5', latency_ms: 1840, tokens_in: 1250 },
        { ...common, skill_id: 'sum-up', llm_platform: 'gemini', success: false, error_code: 'RateLimitError' },
      ],
    ],
    [
      'openai-usage.json',
      'openai-usage',
      [
        {
          skill_id: 'sum-up',
          llm_platform: 'chatgpt',
          llm_model: 'gpt-4o-2024-08-06',
          ts: '2026-01-05T00:00:00.000000Z',
          tokens_in: 125_000,
          tokens_out: 31_000,
          // 125,000 at $2.50 and 31,000 at $10 a million.
          cost_usd_estimate: 0.6225,
          cost_usd_computed: 0.6225,
          metadata: { source: 'openai-usage', requests: 100, tokens_cache_read: 80_000, project_id: 'proj_support' },
        },
      ],
    ],
    [
      'anthropic-usage.json',
      'anthropic-usage',
      [{ llm_platform: 'claude', tokens_in: 301_500, tokens_out: 31_000, ts: '2026-01-05T00:00:00.000000Z' }],
    ],
  ]
  test.each(cases)('%s is imported', async (example, from, expected) => {
    const begun = now()
    const path = await copyOf(example)
    expect(await run(path, { from, defaults })).toEqual({
      file: path,
      stored: expected.length,
      stored_now: expected.length,
      rejected: 0,
      rejected_file: null,
    })
    const records = await stored(begun)
    expect(records).toHaveLength(expected.length)
    for (const [index, members] of expected.entries()) expect(records[index]).toMatchObject(members)
    // No text of a prompt, an answer or an error message.
    expect(JSON.stringify(records)).not.toContain('left out')
  })
})

test('lines that cannot be stored are listed with their reasons, and the others are stored', async () => {
  const good = (latency_ms: number) => JSON.stringify(event({ latency_ms }))
  const content = [
    good(1),
    '{"half":',
    JSON.stringify(event({ latency_ms: 0 })),
    '[1]',
    '',
    JSON.stringify(event({ skill_id: 'unknown' })),
    good(2),
    `{"note":"${'x'.repeat(5_000_000)}"}`,
  ].join('\n')
  const path = await fileOf(content)
  const result = await run(path)
  expect(result).toEqual({ file: path, stored: 2, stored_now: 2, rejected: 5, rejected_file: `${path}.rejected.jsonl` })
  const rejected = (await readFile(`${path}.rejected.jsonl`, 'utf8')).trimEnd().split('\n')
  expect(rejected.map((text) => JSON.parse(text))).toEqual([
    { line: 2, reason: 'is not a JSON object' },
    { line: 3, reason: expect.stringContaining('/latency_ms'), event: expect.objectContaining({ latency_ms: 0 }) },
    { line: 4, reason: 'is not a JSON object' },
    { line: 6, reason: expect.stringContaining('skill'), event: expect.objectContaining({ skill_id: 'unknown' }) },
    { line: 8, reason: 'is longer than 4194304 bytes' },
  ])
  expect((await stat(`${path}.rejected.jsonl`)).mode & 0o777).toBe(0o600)
})

test('each of many rejected lines has its own reason, in a bounded number of requests, also after a lost answer', async () => {
  const begun = now()
  const isGood = (at: number) => at % 4 === 0
  const events = Array.from({ length: 1000 }, (_, at) =>
    event({ latency_ms: at % 4 === 1 ? 0 : at + 1, ...(at % 4 > 1 && { skill_id: 'unknown' }) }),
  )
  const path = await fileOf(lines(events))
  const realFetch = globalThis.fetch
  const lost = new TypeError('fetch failed', { cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }) })
  let requests = 0
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const response = await realFetch(input, init)
    if (String(input).endsWith(':batch') && ++requests === 3) throw lost
    return response
  })
  expect(await run(path)).toMatchObject({ stored: 250, rejected: 750 })
  // The Hub explains 100 of the 750, and then 100 at a time; one request is repeated.
  expect(requests).toBe(1 + 7 + 1)
  const rejected = (await readFile(`${path}.rejected.jsonl`, 'utf8')).trimEnd().split('\n')
  const read = rejected.map((text) => JSON.parse(text) as { line: number; reason: string })
  expect(read.map(({ line }) => line - 1)).toEqual([...events.keys()].filter((at) => !isGood(at)))
  const wrong = (line: number) => (line % 4 === 2 ? '/latency_ms' : '/skill_id')
  expect(read.filter(({ line, reason }) => !reason.startsWith(wrong(line)))).toEqual([])
  expect(await stored(begun)).toHaveLength(250)
})

test('the file of rejected lines is imported: its events with other options, and the others are rejected again', async () => {
  const begun = now()
  const usage = {
    type: 'GENERATION',
    model: 'gpt-4o',
    usage: { input: 10, output: 5 },
    startTime: begun,
    endTime: begun,
  }
  const path = await fileOf(
    `${lines([
      { ...usage, name: 'unknown' },
      { ...usage, name: 'sum-up' },
    ])}{"half":\n`,
  )
  const { skill: _, ...others } = defaults
  const from = 'langfuse-export'
  expect(await run(path, { from, defaults: others })).toMatchObject({ stored: 1, rejected: 2 })
  const rejected = `${path}.rejected.jsonl`
  await writeFile(rejected, (await readFile(rejected, 'utf8')).replace('"skill_id":"unknown",', ''))
  // The format of the first file may stay in the command.
  for (const [at, format] of [from, 'events'].entries()) {
    const copy = at === 0 ? rejected : await fileOf(await readFile(rejected))
    expect(await run(copy, { from: format, defaults })).toMatchObject({ stored: 1, rejected: 1 })
    expect(JSON.parse(await readFile(`${copy}.rejected.jsonl`, 'utf8'))).toEqual({
      line: 2,
      reason: 'is not a JSON object',
    })
  }
  // The copy has the same events, and is stored once.
  expect(await stored(begun)).toMatchObject([{ skill_id: 'sum-up' }, { skill_id: 'sum-up', llm_platform: 'chatgpt' }])
})

test('a row with tokens that are no count is rejected, and costs are not counted as tokens', async () => {
  const begun = now()
  const usage = { input: 10, output: 5, inputCost: 0.5, outputCost: 1.25 }
  const row = { type: 'GENERATION', startTime: begun, endTime: begun, model: 'gpt-4o', usage }
  const path = await fileOf(lines([row, { ...row, usage: { ...usage, input: 1.5 } }]))
  expect(await run(path, { from: 'langfuse-export', defaults })).toMatchObject({ stored: 1, rejected: 1 })
  expect(await stored(begun)).toMatchObject([{ tokens_in: 10, tokens_out: 5 }])
  expect(await readFile(`${path}.rejected.jsonl`, 'utf8')).toContain('/tokens_in')
})

test('a file that was imported is not imported again, and a copy of it neither', async () => {
  const begun = now()
  const content = lines([event({ latency_ms: 11 }), event({ latency_ms: 12 })])
  const path = await fileOf(content)
  expect(await run(path)).toMatchObject({ stored: 2, stored_now: 2 })
  expect(await run(path)).toMatchObject({ stored: 2, stored_now: 0 })
  expect(await run(await fileOf(content))).toMatchObject({ stored: 2 })
  expect(await stored(begun)).toHaveLength(2)
})

test('an import that was interrupted goes on, and writes each rejected line once', async () => {
  const begun = now()
  const events = Array.from({ length: 2500 }, (_, at) => event({ latency_ms: at % 1000 === 5 ? 0 : at + 1 }))
  const path = await fileOf(lines(events))
  const target = await targetOf('acme')
  const options = { from: 'events', defaults: {} }
  for (const interrupted of [1, 2]) {
    const stopped = importFile(path, target, options, (_part, { batches }) => {
      if (batches === interrupted) throw new Error('interrupted')
    })
    await expect(stopped).rejects.toThrow('interrupted')
  }
  // A kill between the two files leaves a line of a batch whose result the progress does not have.
  await writeFile(`${path}.rejected.jsonl`, `${await readFile(`${path}.rejected.jsonl`, 'utf8')}{"line":9`)
  expect(await importFile(path, target, options, () => {})).toMatchObject({ stored: 2497, rejected: 3 })
  const rejected = (await readFile(`${path}.rejected.jsonl`, 'utf8')).trimEnd().split('\n')
  expect(rejected.map((text) => JSON.parse(text).line)).toEqual([6, 1006, 2006])
  let cursor = ''
  const pages: number[] = []
  do {
    const query = `record_type=telemetry_event&limit=1000&created_at__gte=${begun}${cursor}`
    const { body } = await hub.call('acme', 'GET', `/api/v1/hub/records?${query}`)
    pages.push(body.records.length)
    cursor = body.next_cursor ? `&cursor=${body.next_cursor}` : ''
  } while (cursor !== '')
  expect(pages).toEqual([1000, 1000, 497])
})

test('rows of one JSON document are named by the number of the object', async () => {
  const path = await fileOf(JSON.stringify({ data: [event(), event({ latency_ms: 0 }), 5] }, null, 1), 'usage.json')
  expect(await run(path)).toMatchObject({ stored: 1, rejected: 2 })
  const rejected = (await readFile(`${path}.rejected.jsonl`, 'utf8')).trimEnd().split('\n')
  expect(rejected.map((text) => JSON.parse(text))).toEqual([
    { object: 2, reason: expect.stringContaining('/latency_ms'), event: expect.objectContaining({ latency_ms: 0 }) },
    { object: 3, reason: 'is not a JSON object' },
  ])
})

test('two commands do not import the same file at once', async () => {
  const path = await fileOf(lines([event()]))
  const other = lockFile(`${path}.import.lock`, { message: '', fix: '' })
  await expect(run(path)).rejects.toThrow(`Another command imports ${path}.`)
  other.release()
  expect(await run(path)).toMatchObject({ stored: 1 })
})

test('gzip, an array of objects and a byte order mark are read', async () => {
  const text = lines([event({ latency_ms: 21 })])
  expect(await run(await fileOf(gzipSync(text), 'usage.jsonl.gz'))).toMatchObject({ stored: 1 })
  expect(await run(await fileOf(JSON.stringify([event(), event()], null, 1), 'usage.json'))).toMatchObject({
    stored: 2,
  })
  expect(await run(await fileOf(`\uFEFF${text}`))).toMatchObject({ stored: 1 })
})

test('a file that has changed, other options and a foreign progress file are refused', async () => {
  const path = await fileOf(lines([event()]))
  await run(path)
  await expect(run(path, { defaults: { skill: 'other' } })).rejects.toThrow('began with other settings')
  await expect(run(path, {}, 'globex')).rejects.toThrow('began with other settings')
  await writeFile(path, lines([event(), event()]))
  await expect(run(path)).rejects.toThrow('The file has changed since its import began')
  await writeFile(`${path}.import.json`, '[]')
  await expect(run(path)).rejects.toThrow('is not the progress of an import')
  await expect(run(join(directory, 'missing.jsonl'))).rejects.toThrow('cannot be read: the file does not exist')
})

test('a file of which nothing was stored is imported again with other options', async () => {
  const begun = now()
  const path = await fileOf(lines([51, 52].map((latency_ms) => event({ latency_ms, skill_id: undefined }))))
  expect(await run(path)).toMatchObject({ stored: 0, rejected: 2 })
  const again = await run(path, { defaults: { skill: 'sum-up' } })
  expect(again).toMatchObject({ stored: 2, rejected: 0, rejected_file: null })
  expect(await stored(begun)).toMatchObject([{ latency_ms: 51 }, { latency_ms: 52 }])
  expect(await readFile(`${path}.rejected.jsonl`, 'utf8')).toBe('')
})

test('a wrong secret, a missing scope and another tenant stop the import before anything is stored', async () => {
  const begun = now()
  const path = await fileOf(lines([event()]))
  const target = await targetOf('acme')
  const options = { from: 'events', defaults: {} }
  const attempt = (changes: object) => importFile(path, { ...target, ...changes }, options, () => {})
  await expect(attempt({ clientSecret: 'wrong' })).rejects.toThrow('The Hub refuses the import')
  await rm(`${path}.import.json`, { force: true })
  await expect(attempt({ tenant: 'globex' })).rejects.toThrow('The Hub refuses the import')
  await rm(`${path}.import.json`, { force: true })
  const reader = importFile(path, await targetOf('acme', ['hub:read']), options, () => {})
  await expect(reader).rejects.toThrow('no scope telemetry:write')
  expect([await stored(begun), await stored(begun, 'globex')]).toEqual([[], []])
})

test('a tenant of Mode C takes the envelope only', async () => {
  const begun = now()
  const path = await copyOf('litellm-spend-logs.json')
  const options = { from: 'litellm-spend-logs', defaults }
  await expect(run(path, options, 'cmode')).rejects.toThrow('refuses the events of objects 1 to 2')
  const envelope = { ...options, defaults: { ...defaults, envelopeOnly: true } }
  expect(await run(path, envelope, 'cmode')).toMatchObject({ stored: 2 })
  expect((await stored(begun, 'cmode')).map(({ metadata }) => metadata)).toEqual([undefined, undefined])
})

describe('a batch that was sent without an answer', () => {
  const old = Date.now() - 25 * 3_600_000

  async function interrupted(events: object[], doubt: { sinceMs: number; key?: string }): Promise<string> {
    const path = await fileOf(lines(events))
    const target = await targetOf('acme')
    const stopped = importFile(path, target, { from: 'events', defaults: {} }, () => {
      throw new Error('interrupted')
    })
    await expect(stopped).rejects.toThrow('interrupted')
    const state = JSON.parse(await readFile(`${path}.import.json`, 'utf8')) as ImportState
    const { sinceMs, ...key } = doubt
    const uncertain = { ...key, client_id: target.clientId, since_ms: sinceMs, until_ms: sinceMs }
    const before = { batches: 0, stored: 0, rejected: 0, rejected_bytes: 0, uncertain }
    await writeFile(`${path}.import.json`, JSON.stringify({ ...state, ...before }))
    return path
  }

  test('more than a day ago waits for a decision when the account may not read', async () => {
    const begun = now()
    const path = await interrupted([event({ latency_ms: 31 })], { sinceMs: old })
    await expect(run(path)).rejects.toThrow('of lines 1 to 1 were sent more than a day ago without an answer')
    expect(await run(path, { uncertain: 'stored' })).toMatchObject({ stored: 1 })
    expect(await stored(begun)).toHaveLength(1)
  })

  test('more than a day ago is looked for when the account may read, and sent again when it is not there', async () => {
    const begun = now()
    const path = await interrupted([event({ latency_ms: 41, metadata: { batch: 1 } })], { sinceMs: old })
    const reader = await targetOf('acme', ['telemetry:write', 'telemetry:read'])
    expect(await importFile(path, reader, { from: 'events', defaults: {} }, () => {})).toMatchObject({ stored: 1 })
    // Its records are of today, and nothing of the time of the doubt was found: the key, still known, stored it once.
    expect(await stored(begun)).toHaveLength(1)
  })
  test('keeps its key, so that other events of another version of the command are not stored beside the first', async () => {
    const begun = now()
    const key = 'import-in-doubt'
    const path = await interrupted([event({ latency_ms: 61 })], { sinceMs: Date.now(), key })
    const sent = await hub.call('acme', 'POST', '/api/v1/telemetry/events:batch', {
      headers: { 'idempotency-key': key },
      body: { events: [event({ latency_ms: 62 })] },
    })
    expect(sent.status, sent.text).toBe(201)
    await expect(run(path)).rejects.toMatchObject({ fix: expect.stringContaining('Another version of this command') })
    expect(await stored(begun)).toMatchObject([{ latency_ms: 61 }, { latency_ms: 62 }])
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import {
  decision,
  expectGuarded,
  expectProblem,
  governanceEvent,
  pathOf,
  query,
  read,
  recordsPath,
  skillDefinition,
  unknownId,
  write,
} from './record-cases.ts'

let hub: TestHub
const output = { record_type: 'output', skill_id: 'summarise' }

beforeAll(async () => {
  hub = await startHub()
  await write(hub, 'acme', skillDefinition('summarise'))
})
afterAll(() => hub.stop())

const post = (body: unknown, headers: Record<string, string> = {}) =>
  hub.call('acme', 'POST', recordsPath, { body, headers })

/** Records by clients: the service writes events of its own meanwhile. */
async function countWritten(): Promise<number> {
  const { records } = await query(hub, 'acme', `?limit=1000&created_by=${await hub.clientId('acme')}`)
  return records.length
}

describe('a record of each type', () => {
  const bodies = [
    { ...output, title: 'T', content: { a: [1, null, 'ü'] }, content_type: 'application/json', skill_version: '1.0.0' },
    {
      ...output,
      archetype_id: 'a',
      user_id: 'user:a@b.c',
      llm_platform: 'custom:own',
      llm_model: 'm/x@1',
      cost_usd_estimate: 0.012345,
    },
    { ...output, content: null },
    { record_type: 'artifact', title: 'A' },
    {
      record_type: 'artifact',
      title: 'A',
      media_type: 'text/plain',
      uri: 'https://x.example/a',
      content: 'text',
      sha256: 'aB'.repeat(32),
      size_bytes: 0,
    },
    decision,
    { ...decision, decision_rationale: '🙂'.repeat(4000) },
    governanceEvent,
    { ...governanceEvent, details: { any: ['thing'] } },
    { ...skillDefinition('other', '2.0.0-rc.1+x'), description: 'D', owner: 'O', manifest: { inputs: [] } },
  ]
  test.each(bodies)('%j', async (body) => {
    const answer = await post(body)
    expect(answer.status, answer.text).toBe(201)
    const { record_id, provenance_hash, provenance_cosign } = answer.body
    expect(answer.headers.location).toBe(pathOf(record_id))
    expect(Object.keys(answer.body).sort()).toEqual(['provenance_cosign', 'provenance_hash', 'record_id'])
    const record = await read(hub, 'acme', record_id)
    expect(record).toEqual({
      ...body,
      record_id,
      tenant_id: 'acme',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      created_by: await hub.clientId('acme'),
      schema_version: '1.0',
      related_records: [],
      is_purged: false,
      provenance_hash,
      provenance_cosign,
    })
    expect((await hub.call('acme', 'POST', pathOf(record_id, '/verify'))).body.verified).toBe(true)
  })

  test('the cost is rounded half up to six decimals', async () => {
    for (const [sent, kept] of [
      [1.0000005, 1.000001],
      [0.00000049, 0],
      [1e9, 1e9],
    ]) {
      const id = await write(hub, 'acme', { ...output, cost_usd_estimate: sent })
      expect((await read(hub, 'acme', id)).cost_usd_estimate).toBe(kept)
    }
  })
})

describe('related_records', () => {
  test('are kept in their order and lower case', async () => {
    const [a, b] = [await write(hub, 'acme', decision), await write(hub, 'acme', decision)]
    const id = await write(hub, 'acme', { ...decision, related_records: [b.toUpperCase(), a] })
    expect((await read(hub, 'acme', id)).related_records).toEqual([b, a])
  })

  test('each must be an existing record of the tenant, once', async () => {
    const own = await write(hub, 'acme', decision)
    const foreign = await write(hub, 'globex', decision)
    const related_records = [own, unknownId, foreign]
    expectProblem(await post({ ...decision, related_records }), 'validation-failed', ...['1', '2'].map(relatedAt))
    expectProblem(
      await post({ ...decision, related_records: [own, own.toUpperCase()] }),
      'validation-failed',
      relatedAt('1'),
    )
    expectProblem(await post({ ...decision, related_records: [own, 'x'] }), 'validation-failed', relatedAt('1'))
    expectProblem(await post({ ...decision, related_records: own }), 'validation-failed', '/related_records')
    expect((await query(hub, 'acme', '?record_type=decision&limit=1000')).records).not.toContainEqual(
      expect.objectContaining({ related_records: expect.arrayContaining([own]) }),
    )
  })

  test('at most 256', async () => {
    const related_records = Array.from({ length: 257 }, () => unknownId)
    expectProblem(await post({ ...decision, related_records }), 'validation-failed', '/related_records')
  })

  const relatedAt = (index: string) => `/related_records/${index}`
})

describe('what is refused, with its pointer', () => {
  const { decision_id: _, ...incomplete } = decision
  let before: number
  beforeAll(async () => {
    before = await countWritten()
  })

  test.each<[object, ...string[]]>([
    [{}, '/record_type'],
    [{ record_type: 'note' }, '/record_type'],
    [{ record_type: 'output' }, '/skill_id'],
    [{ ...output, skill_id: 'a b' }, '/skill_id'],
    [{ ...output, skill_version: '1.0' }, '/skill_version'],
    [{ ...output, archetype_id: '' }, '/archetype_id'],
    [{ ...output, user_id: 'ada@example.com' }, '/user_id'],
    [{ ...output, llm_platform: 'bard' }, '/llm_platform'],
    [{ ...output, llm_model: 'a b' }, '/llm_model'],
    [{ ...output, cost_usd_estimate: -0.1 }, '/cost_usd_estimate'],
    [{ ...output, cost_usd_estimate: 1e9 + 1 }, '/cost_usd_estimate'],
    [{ ...output, cost_usd_estimate: '1' }, '/cost_usd_estimate'],
    [{ ...output, event_kind: 'custom.x' }, '/event_kind'],
    [{ record_type: 'artifact' }, '/title'],
    [{ record_type: 'artifact', title: 'A', sha256: 'ab' }, '/sha256'],
    [{ record_type: 'artifact', title: 'A', size_bytes: -1 }, '/size_bytes'],
    [{ record_type: 'artifact', title: 'A', uri: 'a b' }, '/uri'],
    [incomplete, '/decision_id'],
    [{ ...decision, decision_outcome: '' }, '/decision_outcome'],
    [{ ...decision, decision_outcome: 'x'.repeat(4001) }, '/decision_outcome'],
    [{ ...decision, decision_outcome: 7 }, '/decision_outcome'],
    [{ ...governanceEvent, event_kind: 'hub.record_purged' }, '/event_kind'],
    [{ ...governanceEvent, event_kind: 'custom.' }, '/event_kind'],
    [{ ...governanceEvent, details: [] }, '/details'],
    [{ ...skillDefinition('x'), skill_version: 'v1' }, '/skill_version'],
    [{ ...skillDefinition('x'), manifest: 'm' }, '/manifest'],
    [{ ...decision, decision_id: undefined, note: 1 }, '/decision_id', '/note'],
  ])('%j', async (body, ...pointers) => {
    expectProblem(await post(body), 'validation-failed', ...pointers)
  })

  test('with words that say what to send instead', async () => {
    const details: Record<string, string> = {}
    for (const member of ['skill_id', 'skill_version', 'user_id', 'llm_platform', 'llm_model']) {
      details[member] = (await post({ ...output, [member]: ' ' })).body.errors[0].detail
    }
    expect(details).toEqual({
      skill_id: 'must be 1 to 128 of the characters A-Z a-z 0-9 _ . : -',
      skill_version: 'must be a semantic version such as 1.4.0',
      user_id: 'must be user:<email> or user:<scim_external_id>, without spaces and at most 259 characters',
      llm_platform: 'must be claude, chatgpt, gemini, copilot, slack or custom:<name>, the name in a-z 0-9 . _ -',
      llm_model: 'must be 1 to 128 of the characters A-Z a-z 0-9 _ . : / @ -',
    })
    expect((await post([])).body.errors).toEqual([{ pointer: '', detail: 'must be an object' }])
  })

  test.each([
    'record_id',
    'tenant_id',
    'created_at',
    'created_by',
    'provenance_hash',
    'provenance_cosign',
    'schema_version',
    'is_purged',
  ])('a body that sets %s', async (member) => {
    expectProblem(await post({ ...decision, [member]: 'x' }), 'validation-failed', `/${member}`)
  })

  test('telemetry, naming where it goes', async () => {
    const answer = await post({ record_type: 'telemetry_event', skill_id: 'summarise' })
    expectProblem(answer, 'validation-failed', '/record_type')
    expect(answer.body.errors[0].detail).toContain('/api/v1/telemetry/events')
  })

  test('text that is not JSON, or that two readers could read differently', async () => {
    expectProblem(await post('{"record_type":'), 'malformed-json')
    for (const text of ['"a\\u0000b"', '"\\ud800"', '{"__proto__":1}', '9007199254740993', '{"a":1,"a":2}']) {
      const answer = await post(`{"record_type":"output","skill_id":"summarise","content":${text}}`)
      expect(answer.status, text).toBe(400)
    }
  })

  test('a body of more than 50,000 values', async () => {
    const zeros = (count: number) => Array.from({ length: count }, () => 0)
    const answer = await post({ ...output, content: zeros(523_000) })
    expectProblem(answer, 'payload-too-large', '')
    expect(answer.body.detail).toContain('50000 JSON values')
    expectProblem(await post({ ...output, content: zeros(50_000) }), 'payload-too-large', '')
    const members = Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`m${at}`, 0]))
    expectProblem(await post({ ...output, content: members }), 'payload-too-large', '')
  })

  test('a body over 1 MiB', async () => {
    expectProblem(await post({ ...output, content: 'x'.repeat(1024 * 1024) }), 'payload-too-large')
  })

  test('nothing of all that was written', async () => {
    expect(await countWritten()).toBe(before)
  })
})

describe('skills', () => {
  test('an output needs one that is registered in its own tenant and not retired', async () => {
    expectProblem(await post({ ...output, skill_id: 'unknown' }), 'skill-not-registered', '/skill_id')
    const elsewhere = await hub.call('globex', 'POST', recordsPath, { body: output })
    expectProblem(elsewhere, 'skill-not-registered', '/skill_id')
    await write(hub, 'acme', skillDefinition('old'))
    for (const state of ['published', 'deprecated', 'retired']) {
      expect((await post({ ...output, skill_id: 'old' })).status).toBe(201)
      await hub.call('acme', 'POST', '/api/v1/skill-entitlement/skills/old:transition', { body: { state } })
    }
    expectProblem(await post({ ...output, skill_id: 'old' }), 'skill-not-registered', '/skill_id')
  })

  test('a version is registered once; another tenant has its own', async () => {
    await write(hub, 'acme', skillDefinition('twice'))
    expectProblem(await post(skillDefinition('twice')), 'concurrent-modification')
    await write(hub, 'acme', skillDefinition('twice', '1.0.1'))
    await write(hub, 'globex', skillDefinition('twice'))
    const results = await Promise.all(Array.from({ length: 5 }, () => post(skillDefinition('race'))))
    expect(results.map((result) => result.status).sort()).toEqual([201, 409, 409, 409, 409])
    const { records } = await query(hub, 'acme', '?record_type=skill_definition&limit=1000')
    expect(records.filter((record: { skill_id: string }) => record.skill_id === 'race')).toHaveLength(1)
  })
})

describe('Idempotency-Key', () => {
  const key = (text: string) => ({ 'idempotency-key': text })

  test('a repeated call gets the first answer', async () => {
    const first = await post(decision, key('one'))
    const again = await post({ ...Object.fromEntries(Object.entries(decision).reverse()) }, key('one'))
    expect(first.headers['idempotent-replayed']).toBeUndefined()
    expect(again.headers['idempotent-replayed']).toBe('true')
    expect([again.status, again.body, again.headers.location]).toEqual([201, first.body, first.headers.location])
  })

  test('duplicates at once make one record', async () => {
    const body = { ...decision, decision_id: 'once' }
    const answers = await Promise.all(Array.from({ length: 6 }, () => post(body, key('race'))))
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1)
    expect(answers.filter((answer) => answer.headers['idempotent-replayed'] === undefined)).toHaveLength(1)
    const { records } = await query(hub, 'acme', '?record_type=decision&limit=1000')
    expect(records.filter((record: { decision_id: string }) => record.decision_id === 'once')).toHaveLength(1)
  })

  test('another payload is a conflict, another tenant another key', async () => {
    const first = await post(decision, key('two'))
    expectProblem(await post({ ...decision, decision_id: 'x' }, key('two')), 'idempotency-conflict')
    const elsewhere = await hub.call('globex', 'POST', recordsPath, { body: decision, headers: key('two') })
    expect(elsewhere.status).toBe(201)
    expect(elsewhere.headers['idempotent-replayed']).toBeUndefined()
    expect(elsewhere.body.record_id).not.toBe(first.body.record_id)
  })

  test('a refused call does not use it up', async () => {
    const body = { ...output, skill_id: 'later' }
    expectProblem(await post(body, key('three')), 'skill-not-registered')
    await write(hub, 'acme', skillDefinition('later'))
    expect((await post(body, key('three'))).status).toBe(201)
  })

  test.each(['a b', 'x'.repeat(256), 'é'])('%j is refused', async (text) => {
    expectProblem(await post(decision, key(text)), 'validation-failed', '/headers/idempotency-key')
  })
})

describe('Mode C', () => {
  const postC = (body: unknown) => hub.call('cmode', 'POST', recordsPath, { body })

  test('takes definitions of skills and governance events without content', async () => {
    for (const body of [{ ...skillDefinition('s'), owner: 'O' }, governanceEvent]) {
      expect((await postC(body)).status).toBe(201)
    }
  })

  test.each<[object, ...string[]]>([
    [decision, '/record_type'],
    [output, '/record_type'],
    [{ record_type: 'artifact', title: 'A' }, '/record_type'],
    [{ ...skillDefinition('t'), description: 'D', manifest: {} }, '/description', '/manifest'],
    [{ ...governanceEvent, details: {} }, '/details'],
    // Content is refused as content, whatever else is wrong with the request.
    [{ record_type: 'decision' }, '/record_type'],
    [{ record_type: 'telemetry_event', skill_id: 's' }, '/record_type'],
    [{ record_type: 'skill_definition', content: 'secret', prompt: 'secret' }, '/content', '/prompt'],
  ])('refuses %j', async (body, ...pointers) => {
    expectProblem(await postC(body), 'content-not-allowed', ...pointers)
  })

  test.each<[unknown, string]>([
    [skillDefinition(''), '/skill_id'],
    [{ record_type: 'skill' }, '/record_type'],
    [{}, '/record_type'],
    [[], ''],
  ])('and %j as any tenant does', async (body, pointer) => {
    expectProblem(await postC(body), 'validation-failed', pointer)
  })
})

test('without token, tenant or scope nothing is written', async () => {
  const before = await countWritten()
  await expectGuarded(hub, 'POST', recordsPath, { body: decision, lacking: ['hub:read', 'telemetry:write'] })
  expect(await countWritten()).toBe(before)
})

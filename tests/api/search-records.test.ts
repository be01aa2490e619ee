import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { searchedTexts } from '../../server/modules/search/record-texts.ts'
import { startHub, type TestHub, type TestTenant } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'
import {
  decision,
  expectGuarded,
  expectProblem,
  governanceEvent,
  pathOf,
  skillDefinition,
  write,
} from './record-cases.ts'
import { prepareTelemetry } from './telemetry-tenants.ts'

const path = '/api/v1/hub/search'
let hub: TestHub
const ids: Record<string, string> = {}

beforeAll(async () => {
  hub = await startHub()
  await prepareTelemetry(hub, 'acme')
  const bodies: Record<string, object> = {
    tariff: {
      ...decision,
      decision_id: 'DEC-2041',
      decision_subject: 'Tariff of the Zürich depot',
      decision_outcome: 'We keep the night rate.',
      decision_rationale: 'The day rate doubles in winter, and the cold store runs at night.',
    },
    night: {
      ...decision,
      decision_subject: 'Shift plan',
      decision_rationale: 'Nobody wants the night shift at Zürich.',
    },
    skill: { ...skillDefinition('fin.invoice-check'), description: 'Compares invoices with purchase orders' },
    artifact: { record_type: 'artifact', title: 'Ledger', content: 'Tariff sheet with <b>markup</b> and ‹marks›' },
    tokyo: { record_type: 'artifact', title: '東京本社の契約書', content: '한국어 문서입니다' },
    hebrew: { record_type: 'artifact', title: 'החלטה על תקציב', content: 'café naïve' },
    event: { ...governanceEvent, subject: 'policy:retention-2031', details: { note: 'walrus' } },
    output: { record_type: 'output', skill_id: 'sum-up', title: 'Summary', content: { deep: [{ text: 'okapi' }, 42] } },
  }
  for (const [name, body] of Object.entries(bodies)) ids[name] = await write(hub, 'acme', body)
  await write(hub, 'globex', { ...decision, decision_subject: 'Tariff of globex' })
  await hub.call('acme', 'POST', '/api/v1/telemetry/events', { body: event({ session_id: undefined }) })
})
afterAll(() => hub.stop())

const url = (q: string, more = '') => `${path}?q=${encodeURIComponent(q)}${more}`
async function search(q: string, more = '', tenant: TestTenant = 'acme', options = {}) {
  const answer = await hub.call(tenant, 'GET', url(q, more), options)
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}
const nameOf = (id: string) => Object.keys(ids).find((name) => ids[name] === id) ?? id
async function found(q: string, more = '') {
  const { results } = await search(q, more)
  return results.map(({ record }: { record: { record_id: string } }) => nameOf(record.record_id))
}

describe('finds', () => {
  test.each([
    ['words in any case', 'ZÜRICH depot', ['tariff']],
    ['other forms of Unicode', 'Zu\u0308rich depot', ['tariff']],
    ['titles before content', 'tariff', ['tariff', 'artifact']],
    ['phrases', '"night shift"', ['night']],
    ['no phrase in another order', '"shift night"', []],
    ['without excluded words', 'night -shift', ['tariff']],
    ['without excluded phrases', 'zürich -"night shift"', ['tariff']],
    ['alternatives', 'okapi or walrus', ['output', 'event']],
    ['all words only', 'okapi walrus', []],
    ['code-like words', 'fin.invoice-check', ['skill']],
    ['parts of code-like words', 'invoice', ['skill']],
    ['ids', 'DEC-2041', ['tariff']],
    ['subjects of events', 'policy:retention-2031', ['event']],
    ['numbers in content', '42', ['output']],
    ['two characters of Chinese or Japanese', '京本', ['tokyo']],
    ['longer Chinese or Japanese', '契約書', ['tokyo']],
    ['Korean', '문서', ['tokyo']],
    ['no characters that are not adjacent', '東本', []],
    ['text from right to left', 'תקציב', ['hebrew']],
    ['accents as written', 'café', ['hebrew']],
    ['other forms if nothing has the word', 'invoicing', ['skill']],
    ['some words of a list if nothing has all', 'which rate does the Zürich depot pay in June', ['tariff', 'night']],
    ['unbalanced quotation marks', '"okapi', ['output']],
    ['nothing', 'quagga', []],
  ])('%s: %s', async (_, q, names) => expect((await found(q)).sort()).toEqual([...names].sort()))

  test('titles first', async () => expect(await found('tariff')).toEqual(['tariff', 'artifact']))

  test('a record by its id, and what names it', async () => {
    expect(await found(ids.output!)).toEqual(['output'])
    expect(await found(ids.output!.toUpperCase())).toEqual(['output'])
  })

  test('no telemetry, and nothing of other tenants', async () => {
    expect(await found('sum-up', '&record_type=telemetry_event')).toEqual([])
    const { results } = await search('tariff', '', 'globex')
    expect(results.map((one: { record: { tenant_id: string } }) => one.record.tenant_id)).toEqual(['globex'])
  })
})

test('answers whole records with score and snippet', async () => {
  const { results, next_cursor } = await search('tariff')
  expect(next_cursor).toBeNull()
  const [first, second] = results
  expect(first.snippet).toBe('‹Tariff› of the Zürich depot')
  expect(second.snippet).toBe('‹Tariff› sheet with <b>markup</b> and <marks>')
  expect(first.score).toBeGreaterThan(second.score)
  expect(first.record).toEqual((await hub.call('acme', 'GET', pathOf(ids.tariff!))).body)
  expect((await search('契約')).results[0].snippet).toBe('東京本社の‹契約›書')
})

test('says whether results have all words, other forms of them, or some', async () => {
  const matchOf = async (q: string) => (await search(q)).match
  expect(await matchOf('night rate')).toBe('all')
  expect(await matchOf('"night rate" or quagga')).toBe('all')
  expect(await matchOf('doubling winters')).toBe('forms')
  expect(await matchOf('where does the depot pay in June')).toBe('some')
  expect((await search('tariff')).truncated).toBeUndefined()
})

describe('narrows', () => {
  test('by type, skill and time', async () => {
    expect(await found('tariff', '&record_type=artifact')).toEqual(['artifact'])
    expect(await found('summary', '&skill_id=sum-up')).toEqual(['output'])
    expect(await found('summary', '&skill_id=other')).toEqual([])
    const created = (await hub.call('acme', 'GET', pathOf(ids.tariff!))).body.created_at
    expect(await found('tariff', `&created_at__gte=${created}&created_at__lte=${created}`)).toEqual(['tariff'])
    expect(await found('tariff', '&created_at__lte=2020-01-01T00:00:00Z')).toEqual([])
  })

  test('by scope', async () => {
    const of = async (scopes: readonly string[]) =>
      (await search('okapi or walrus', '', 'acme', { scopes })).results.length
    expect(await of(['hub:read'])).toBe(2)
    expect(await of(['governance:read'])).toBe(1)
    expect(await of(['telemetry:read'])).toBe(0)
  })

  test('by a skill with quotation marks, which are no syntax', async () => {
    expect(await found('summary', `&skill_id=${encodeURIComponent("sum-up' | 'x\\")}`)).toEqual([])
  })

  test('by purge', async () => {
    const id = await write(hub, 'acme', { record_type: 'artifact', title: 'pangolin' })
    await hub.call('acme', 'DELETE', pathOf(id, '?reason=x'))
    expect(await found('pangolin')).toEqual([])
    expect(await found('pangolin', '&include_purged=true')).toEqual([id])
    await hub.call('acme', 'POST', pathOf(id, ':restore'))
    expect(await found('pangolin')).toEqual([id])
  })
})

test('pages through all matches in a stable order', async () => {
  for (let at = 0; at < 7; at += 1) await write(hub, 'acme', { record_type: 'artifact', title: `Tapir number ${at}` })
  const whole = await found('tapir')
  expect(whole.length).toBe(7)
  const pages: string[] = []
  for (let cursor = ''; ; ) {
    const page = await search('tapir', `&limit=3${cursor}`)
    pages.push(...page.results.map((one: { record: { record_id: string } }) => one.record.record_id))
    if (page.next_cursor === null) break
    cursor = `&cursor=${page.next_cursor}`
  }
  expect(pages).toEqual(whole)
  const some = 'where does some tapir number live'
  const first = await search(some, '&limit=4')
  const second = await search(some, `&limit=4&cursor=${first.next_cursor}`)
  const shown = [...first.results, ...second.results].map((one) => one.record.record_id)
  expect(new Set(shown).size).toBe(8)
  expect(shown).toEqual(
    (await search(some, '&limit=8')).results.map((one: { record: { record_id: string } }) => one.record.record_id),
  )
  expectProblem(
    await hub.call('acme', 'GET', url('okapi', `&cursor=${first.next_cursor}`)),
    'invalid-cursor',
    '/query/cursor',
  )
})

test('scores and cursors depend only on records of the types that the token may read', async () => {
  for (const note of ['quokka lemur', 'lemur heron', 'heron']) {
    await write(hub, 'acme', { ...governanceEvent, details: { note } })
  }
  const answers = async () => {
    const scopes = [['governance:read'], ['hub:read']]
    return Promise.all(scopes.map((scopes) => search('quokka lemur ibis', '&limit=1', 'acme', { scopes })))
  }
  const [hidden, shown] = await answers()
  expect(hidden.next_cursor).toEqual(expect.any(String))
  for (let at = 0; at < 3; at += 1) await write(hub, 'acme', { ...decision, decision_rationale: 'A quokka, an ibis.' })
  const [hiddenAfter, shownAfter] = await answers()
  expect(hiddenAfter).toEqual(hidden)
  expect(shownAfter.next_cursor).not.toBe(shown.next_cursor)
})

test('empty texts count for nothing', () => {
  const content = [...Array(70_000).fill(''), 'axolotl']
  const texts = searchedTexts({ record_type: 'artifact', title: '', content }, false, 4)
  expect(texts).toEqual([{ weight: 'C', text: 'axol' }])
})

test.each([
  ['no query', path, '/query/q'],
  ['an empty query', `${path}?q=`, '/query/q'],
  ['NUL', url('okapi\0'), '/query/q'],
  ['a long query', url('a'.repeat(501)), '/query/q'],
  ['operators only', url('" - -- " or OR - ()&|!:*'), '/query/q'],
  ['500 operators', url('-"'.repeat(250)), '/query/q'],
  ['excluded words only', url('-okapi -"night shift"'), '/query/q'],
  ['an alternative of excluded words', url('okapi or -walrus'), '/query/q'],
  ['an unknown type', url('okapi', '&record_type=letter'), '/query/record_type'],
  ['a million records', url('okapi', '&limit=1000000'), '/query/limit'],
  ['a bad time', url('okapi', '&created_at__gte=yesterday'), '/query/created_at__gte'],
  ['an unknown parameter', url('okapi', '&created_at__lt=2020-01-01T00:00:00Z'), '/query/created_at__lt'],
])('refuses %s', async (_, bad, pointer) => {
  expectProblem(await hub.call('acme', 'GET', bad), 'validation-failed', pointer)
})

test('500 characters of anything are answered', async () => {
  for (const q of [
    'or '.repeat(166),
    `${'a '.repeat(249)}-b`,
    '"a" '.repeat(125),
    'x'.repeat(500),
    'זה '.repeat(166),
    '本'.repeat(500),
  ]) {
    const { status } = await hub.call('acme', 'GET', url(q.slice(0, 500)))
    expect([200, 400]).toContain(status)
  }
})

test('needs a token that reads records', () => expectGuarded(hub, 'GET', url('okapi'), { lacking: ['hub:write'] }))

test('finds other forms of words in the language of the tenant', async () => {
  const put = (search_language: string) => hub.call('globex', 'PUT', '/api/v1/tenant', { body: { search_language } })
  expect((await put('klingon')).status).toBe(400)
  expect((await put('english')).body.search_language).toBe('english')
  while (await hub.modules.hub.searchIndexer.index('globex'));
  await write(hub, 'globex', {
    ...decision,
    decision_subject: 'Hiring of engineers',
    decision_rationale: 'They were approved.',
  })
  expect((await search('tariffs', '', 'globex')).results.length).toBe(1)
  const { results } = await search('approving the engineer', '', 'globex')
  expect(results.map((one: { snippet: string }) => one.snippet)).toEqual(['Hiring of ‹engineers›'])
  expect((await search('the of and', '', 'globex')).results).toEqual([])
  expectProblem(await hub.call('globex', 'GET', url('the -tariff')), 'validation-failed', '/query/q')
  expect((await search('hiring -engineer', '', 'globex')).results).toEqual([])
})

test('records of before the index are indexed in the background', async () => {
  const client = await hub.superuserClient()
  await client.query(`delete from hub.search_documents; delete from hub.search_progress`)
  expect(await found('okapi')).toEqual([])
  while (await hub.modules.hub.searchIndexer.index('acme'));
  expect(await found('okapi')).toEqual(['output'])
  expect(await hub.modules.hub.searchIndexer.index('acme')).toBe(false)
})

test('a word that thousands of records have is answered', async () => {
  const client = await hub.superuserClient()
  await client.query(
    `insert into hub.search_documents (tenant_id, record_id, record_type, words)
     select 'acme', ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'artifact', 'numbat:1A @acme'::tsvector from generate_series(1, 12000) n`,
  )
  const id = await write(hub, 'acme', { record_type: 'artifact', title: 'numbat' })
  const { results, match, truncated } = await search('numbat')
  expect(results.map((one: { record: { record_id: string } }) => one.record.record_id)).toEqual([id])
  expect({ match, truncated }).toEqual({ match: 'all', truncated: true })
  expect((await search('numbat', '&record_type=decision')).truncated).toBeUndefined()
  // No record has all words, so 2,000 are ranked.
  expect(await search('numbats quaggas anywhere')).toMatchObject({ match: 'some', truncated: true })
  await client.query(`delete from hub.search_documents where record_id > '00000000-0000-7000-8000-00000000270f'
    and record_id < '00000000-0000-7000-8000-0000ffffffff'`)
  expect((await search('numbat')).truncated).toBeUndefined()
})

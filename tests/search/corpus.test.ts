import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { corpus, idOf } from './corpus.ts'
import { questions } from './questions.ts'

/** The search must find what people ask for, in their words: measured with 100 questions about 2,000 decisions. */

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
  const tenant = await hub.tenant('acme')
  const { sealer, writer } = hub.modules.recordStore.records
  const drafts = corpus().map(({ record_type, ...fields }) => {
    return { recordType: record_type, createdBy: 'corpus', fields: { ...fields } }
  })
  for (let from = 0; from < drafts.length; from += 500) {
    const batch = await sealer.seal(tenant, drafts.slice(from, from + 500))
    await hub.test.database.withTenant('acme', (tx) => writer.insert(tx, batch))
  }
})
afterAll(() => hub.stop())

async function missed(): Promise<string[]> {
  const lost: string[] = []
  for (const [question, ...answer] of questions) {
    const path = `/api/v1/hub/search?limit=3&q=${encodeURIComponent(question)}`
    const { status, body, text } = await hub.call('acme', 'GET', path)
    expect(status, text).toBe(200)
    const ids = body.results.map(({ record }: { record: { decision_id: string } }) => record.decision_id)
    if (!ids.includes(idOf(...answer))) lost.push(question)
  }
  return lost
}

test('there are 2,000 decisions and 100 questions', () => {
  expect(new Set(corpus().map((decision) => decision.decision_id)).size).toBe(2000)
  expect(new Set(questions.map(([question]) => question)).size).toBe(100)
})

test.each(['simple', 'english'])(
  'in %s, at least 90 of 100 decisions are among the first three results',
  async (language) => {
    await hub.call('acme', 'PUT', '/api/v1/tenant', { body: { search_language: language } })
    while (await hub.modules.hub.searchIndexer.index('acme'));
    expect((await missed()).length).toBeLessThanOrEqual(10)
  },
)

import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isSaltOfContent } from '../../server/db/content-salt.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'
import { type ModeB, modeB } from './mode-b-lab.ts'

/** A text that is found nowhere else. */
const needle = `zq${randomBytes(12).toString('hex')}`
const records = '/api/v1/hub/records'
let hub: TestHub
let b: ModeB

beforeAll(async () => {
  hub = await startHub()
  b = await modeB(hub, 'sealed')
})
afterAll(() => hub.stop())

async function write(body: Record<string, unknown>, to = b): Promise<string> {
  const answer = await to.call('POST', records, body)
  expect(answer.status, answer.text).toBe(201)
  return answer.body.record_id
}

async function tablesWith(text: string): Promise<string[]> {
  const client = await hub.superuserClient()
  const { rows: tables } = await client.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c where c.relkind in ('r', 'm')`,
  )
  const found: string[] = []
  for (const { name } of tables) {
    const { rows } = await client.query(`select 1 from ${name} t where strpos(lower(t::text), $1) > 0 limit 1`, [text])
    if (rows.length > 0) found.push(name)
  }
  return found
}

test('nothing can be written before there is a key, by either way', async () => {
  const written = await b.call('POST', records, { record_type: 'artifact', title: 'x' })
  const output = await b.call('POST', records, { record_type: 'output', skill_id: 'nobody-knows-it' })
  const ingested = await b.call('POST', '/api/v1/telemetry/events', event())
  for (const answer of [written, output, ingested]) {
    expect([answer.status, answer.body.type]).toEqual([422, `${hub.baseUrl}/errors/hub-not-provisioned`])
  }
})

test('no content stands in the database in clear, and all of it is answered, verified and exported', async () => {
  await b.ready()
  await b.call('PUT', '/api/v1/roster/archetypes', { archetypes: [{ archetype_id: 'analyst' }] })
  const skill = {
    skill_id: 'sealed-skill',
    skill_version: '1.0.0',
    name: needle,
    description: needle,
    manifest: { a: needle },
  }
  await write({ record_type: 'skill_definition', ...skill })
  const title = { title: needle }
  const first = await write({ record_type: 'artifact', ...title, content: [needle] })
  const second = await write({ record_type: 'output', skill_id: 'sealed-skill', ...title, related_records: [first] })
  await write({ record_type: 'governance_event', event_kind: 'custom.x', details: { a: needle } })
  const given = event({ skill_id: 'sealed-skill', archetype_id: 'analyst', metadata: { note: needle } })
  const one = await b.call('POST', '/api/v1/telemetry/events', given)
  expect(one.status, one.text).toBe(201)
  const many = await b.call('POST', '/api/v1/telemetry/events:batch', { events: [given, given] })
  expect(many.body.records, many.text).toHaveLength(2)

  expect(await tablesWith(needle)).toEqual([])

  const page = await b.call('GET', `${records}?verify=true&limit=100`)
  expect(page.body.verification_summary).toMatchObject({ tampered: 0, cosign_invalid: 0 })
  expect(page.text.split(needle).length - 1).toBeGreaterThanOrEqual(9)
  const related = await b.call('GET', `${records}/${second}/related`)
  expect(related.body.records.map((record: { title: string }) => record.title)).toEqual([needle, needle])
  const skills = await b.call('GET', '/api/v1/skill-entitlement/skills')
  expect(skills.text).toContain(needle)
  const feed = await b.call('GET', '/api/v1/hub/log/entries?limit=1000')
  expect(feed.text).toContain(needle)
  expect(await hub.modules.hub.sweeper.sweep((await hub.modules.tenants.directory.read('sealed'))!)).toMatchObject({
    failed: 0,
    inconsistent: 0,
  })
})

test('a text that was moved to another record, or edited, is tampered, and so is one of another tenant', async () => {
  const other = await modeB(hub, 'other')
  await other.ready()
  const [mine, twin] = [
    await write({ record_type: 'artifact', title: 'mine' }),
    await write({ record_type: 'artifact', title: 'twin' }),
  ]
  const theirs = await write({ record_type: 'artifact', title: 'theirs' }, other)
  const client = await hub.superuserClient()
  const textOf = async (id: string) =>
    (await client.query<{ canonical: string }>('select canonical from hub.records where record_id = $1', [id])).rows[0]!
      .canonical
  const put = (text: string) => client.query('update hub.records set canonical = $1 where record_id = $2', [text, mine])
  const original = await textOf(mine)
  const flipped = `${original.slice(0, -3)}${original.at(-3) === 'A' ? 'B' : 'A'}${original.slice(-2)}`
  const renamed = (await textOf(theirs)).replace(theirs, mine)
  for (const text of [
    await textOf(twin),
    await textOf(theirs),
    renamed,
    flipped,
    'omhe1.',
    `${original.slice(0, 40)}`,
  ]) {
    await put(text)
    const answer = await b.call('POST', `${records}/${mine}/verify`)
    expect(answer.status, text).toBe(200)
    expect(answer.body).toMatchObject({ verified: false, checks: { provenance_hash_matches: false } })
  }
  await put(original)
  expect((await b.call('GET', `${records}/${mine}?verify=true`)).body.verification.verified).toBe(true)
})

test('keys are rotated while records are written, and every one of them opens', async () => {
  const ids: string[] = []
  const writing = Promise.all(
    [0, 1, 2].map(async (writer) => {
      for (let at = 0; at < 10; at++) ids.push(await write({ record_type: 'artifact', title: `${writer} ${at}` }))
    }),
  )
  const ingesting = (async () => {
    for (let at = 0; at < 10; at++) {
      const given = event({ skill_id: 'sealed-skill', archetype_id: 'analyst' })
      const { status, text } = await b.call('POST', '/api/v1/telemetry/events', given)
      expect(status, text).toBe(201)
    }
  })()
  for (let at = 0; at < 3; at++) expect((await b.call('POST', '/api/v1/hub/cmek:rotate', {})).status).toBe(200)
  await Promise.all([writing, ingesting])
  expect(ids).toHaveLength(30)
  const page = await b.call('GET', `${records}?verify=true&limit=1000`)
  expect(page.body.verification_summary).toMatchObject({ tampered: 0, cosign_invalid: 0 })
  const { rows } = await (await hub.superuserClient()).query<{ key: string; salt: Buffer }>(
    `select substr(canonical, 7, 27) as key, salt from hub.records where tenant_id = 'sealed'`,
  )
  const keys = new Set(rows.map(({ key }) => key).filter((key) => key.startsWith('ck_')))
  expect(keys.size).toBeGreaterThan(1)
  // The salts, which are sealed, tell of the keys that the texts went with, and of none for events of the service.
  for (const { key, salt } of rows) {
    const told = [...keys].filter((each) => isSaltOfContent(salt, 'sealed', each))
    expect(told).toEqual(keys.has(key) ? [key] : [])
  }
})

test('content is sealed for the key that it is stored under, and else not stored', async () => {
  const { sealer, writer } = hub.modules.recordStore.records
  const tenant = (await hub.modules.tenants.directory.read('sealed'))!
  const draft = { recordType: 'artifact' as const, createdBy: 'client-1', fields: { title: needle } }
  await expect(sealer.seal(tenant, [draft])).rejects.toThrow('the key that encrypts it')
  const batch = await sealer.seal(tenant, [draft], undefined, { keyId: 'ck_another' })
  const inserted = hub.test.database.withTenant('sealed', (tx) => writer.insert(tx, batch))
  await expect(inserted).rejects.toThrow('another content key')
  const held = await hub.test.database.contents.outside('sealed')
  expect(() => writer.copySteps(batch, held)).toThrow('another content key')
})

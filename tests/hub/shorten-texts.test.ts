import { afterAll, beforeAll, expect, test } from 'vitest'
import { shortenTexts } from '../../cli/database/shorten-texts.ts'
import type { Tenant } from '../../server/http/caller.ts'
import { createTextForm } from '../../server/modules/records/text-form-store.ts'
import { callerOf, openRecordLab, type RecordLab, telemetry } from './record-lab.ts'

let lab: RecordLab
let acme: Tenant
let client: Awaited<ReturnType<RecordLab['superuserClient']>>
const events = 2100

beforeAll(async () => {
  lab = await openRecordLab()
  client = await lab.superuserClient()
  acme = await lab.openTenant('acme')
  // A writer before the short form stored texts in full, as this path does.
  for (let start = 0; start < events; start += 700) {
    await lab.write(acme, ...Array.from({ length: 700 }, (_, at) => telemetry(start + at)))
  }
  await lab.write(acme, { recordType: 'decision', fields: { title: 'Renew', subject: 'lease', rationale: 'cheap' } })
  await lab.write(await lab.openTenant('other'), telemetry(1), telemetry(2))
  await client.query(`insert into hub.tenants (slug, mode, log_name, created_at)
    values ('acme', 'A', 'orghub/log/acme', now()), ('other', 'A', 'orghub/log/other', now())`)
})
afterAll(() => lab.drop())

const pages = async () => {
  const caller = callerOf(acme)
  const [first, rest] = [
    await lab.reading.query(caller, { limit: 1000, verify: true }),
    await lab.reading.query(caller, { limit: 1000, verify: true, sort: '-created_at' }),
  ]
  return { first, rest }
}
const textsInFull = async () =>
  (
    await client.query<{ count: number }>(
      `select count(*)::int as count from hub.records where record_type = 'telemetry_event' and canonical like '{%'`,
    )
  ).rows[0]!.count

test('earlier events are shortened, and answered and verified as before', async () => {
  const before = await pages()
  expect(await textsInFull()).toBe(events + 2)
  const steps: string[] = []
  const done = await shortenTexts(client, ({ step }) => steps.push(step))
  expect(done).toEqual({ shortened: events + 2, kept: 0 })
  expect(steps.at(-1)).toMatch(/^records_y\d{4}m\d\d: 2,102 texts shortened$/)
  expect(await textsInFull()).toBe(0)
  expect(await pages()).toEqual(before)
  expect(before.first.verification_summary).toMatchObject({ checked: 1000, verified: 1000 })
})

test('a process asks each minute whether texts may be short, until they may', async () => {
  const setShort = (isShort: boolean) =>
    client.query(
      `create or replace function hub.short_texts() returns boolean language sql stable as 'select ${isShort}'`,
    )
  await setShort(false)
  let now = 0
  const isShort = createTextForm(lab.database, () => now)
  expect(await Promise.all([isShort('acme'), isShort('other')])).toEqual([false, false])
  await shortenTexts(client, () => {})
  now = 59_999
  expect(await isShort('acme')).toBe(false)
  now = 60_000
  expect(await isShort('acme')).toBe(true)
  await setShort(false)
  now = 1e6
  expect(await isShort('acme')).toBe(true)
  await setShort(true)
})

test('a further run has nothing to do', async () => {
  expect(await shortenTexts(client, () => {})).toEqual({ shortened: 0, kept: 0 })
})

test('edits stay visible', async () => {
  const [text, column, end, number, sound] = await lab.write(acme, ...[1, 2, 3, 4, 5].map(telemetry))
  // They resemble the text of an event so much that the short form would be that of the sound text.
  await client.query(`update hub.records set canonical = left(canonical, -1) || ']' where record_id = $1`, [end])
  await client.query(
    `update hub.records set canonical = replace(canonical, '"latency_ms":', '"latency_ms":=') where record_id = $1`,
    [number],
  )
  await client.query(
    `update hub.records set canonical = replace(canonical, '"latency_ms":', '"latency_ms":1') where record_id = $1`,
    [text],
  )
  await client.query(`update hub.records set user_id = 'user:mallory' where record_id = $1`, [column])
  expect(await shortenTexts(client, () => {})).toEqual({ shortened: 2, kept: 3 })
  const page = await lab.reading.query(callerOf(acme), { limit: 5, sort: '-created_at', verify: true })
  expect(page.verification_summary).toMatchObject({ checked: 5, verified: 1, tampered: 4 })
  const verdicts = new Map(
    page.records.map((record) => [record.record_id, (record.verification as { verified: boolean }).verified]),
  )
  expect([text, column, end, number, sound].map((id) => verdicts.get(id))).toEqual([false, false, false, false, true])
})

test('no edit of a short text makes a read fail, or hides the event from a filter', async () => {
  const ids = await lab.load(acme, 1, (at) => ({ ...telemetry(at), createdBy: 'client-1' }))
  const [decisionId] = await lab.write(acme, { recordType: 'decision', fields: { title: 'a' } })
  const { rows } = await client.query('select canonical from hub.records where record_id = $1', [ids[0]])
  const short: string = rows[0].canonical
  const put = (id: string | undefined, text: string) =>
    client.query('update hub.records set canonical = $2 where record_id = $1', [id, text])
  const edits = [
    '~1',
    `~1${'\t'.repeat(25)}`,
    short.replace('\t', ''),
    `${short}\t`,
    // Other spellings of the same values.
    short.replace(/\t1\t/, '\t=true\t'),
    short.replace('\tclaude\t', '\t="claude"\t'),
    short.replace(/\t(\d+)\tclaude/, '\t=$1\tclaude'),
  ]
  for (const id of [ids[0], decisionId]) {
    const sound = id === decisionId ? undefined : short
    for (const text of edits) {
      expect(text).not.toBe(short)
      await put(id, text)
      const { records } = await lab.reading.query(callerOf(acme), { limit: 1, record_id: id!, verify: true })
      expect(records[0]?.verification, text).toMatchObject({ verified: false })
    }
    if (sound !== undefined) await put(id, sound)
  }
})

test('a database of an earlier schema is refused', async () => {
  await client.query('begin')
  await client.query('drop function hub.short_texts()')
  await expect(shortenTexts(client, () => {})).rejects.toThrow('older than the short form')
  await client.query('rollback')
})

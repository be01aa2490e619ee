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
  const [text, column, sound] = await lab.write(acme, telemetry(1), telemetry(2), telemetry(3))
  await client.query(
    `update hub.records set canonical = replace(canonical, '"latency_ms":', '"latency_ms":1') where record_id = $1`,
    [text],
  )
  await client.query(`update hub.records set user_id = 'user:mallory' where record_id = $1`, [column])
  expect(await shortenTexts(client, () => {})).toEqual({ shortened: 2, kept: 1 })
  const page = await lab.reading.query(callerOf(acme), { limit: 3, sort: '-created_at', verify: true })
  expect(page.verification_summary).toMatchObject({ checked: 3, verified: 1, tampered: 2 })
  const verdicts = new Map(
    page.records.map((record) => [record.record_id, (record.verification as { verified: boolean }).verified]),
  )
  expect([text, column, sound].map((id) => verdicts.get(id))).toEqual([false, false, true])
})

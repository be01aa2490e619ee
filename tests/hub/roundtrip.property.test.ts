import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonValue } from '../../provenance/json.ts'
import type { Caller, Tenant } from '../../server/http/caller.ts'
import { callerOf, openRecordLab, type RecordLab } from './record-lab.ts'

let lab: RecordLab
let acme: Tenant
let caller: Caller

beforeAll(async () => {
  lab = await openRecordLab()
  acme = await lab.openTenant('acme')
  caller = callerOf(acme)
})

afterAll(() => lab.drop())

/**
 * RFC 8785 a second time and as naively as it can be said: sort the members of every object by UTF-16 code units, and
 * let JSON.stringify write what is left.
 */
function naiveCanonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(naiveCanonical).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${naiveCanonical(member)}`).join(',')}}`
}

function naiveHash(record: Record<string, unknown>): string {
  const { is_purged: _, provenance_hash: __, provenance_cosign: ___, ...hashed } = record
  return `sha256:${createHash('sha256').update('orghub/record/v1\0').update(naiveCanonical(hashed)).digest('hex')}`
}

// What the HTTP layer lets through: no NUL, no lone surrogates, no `__proto__`.
const text = fc.string({ unit: 'binary', maxLength: 40 }).map((value) => value.replaceAll('\0', ''))
const memberName = text.filter((name) => name !== '__proto__')
const { json } = fc.letrec<{ json: JsonValue }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    text,
    fc.boolean(),
    fc.constant(null),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    fc.maxSafeInteger(),
    fc.array(tie('json'), { maxLength: 5 }),
    fc.dictionary(memberName, tie('json'), { maxKeys: 5, noNullPrototype: true }),
  ) as fc.Arbitrary<JsonValue>,
}))

const draft = fc.record({
  title: text,
  content: json,
  micros: fc.integer({ min: 0, max: 1_000_000_000_000_000 }),
})

test('1,000 records of any content come back as they were written, and hash to the same by a second implementation', async () => {
  const written = fc.sample(draft, { numRuns: 1000, seed: 20260314 })
  const drafts = written.map(({ title, content, micros }) => ({
    recordType: 'output' as const,
    createdBy: 'client-1',
    fields: { skill_id: 'skill', title, content, cost_usd_estimate: micros / 1_000_000 },
  }))
  // Half by INSERT and half by COPY: each escapes in its own way.
  const [inserted, copied] = [
    await lab.records.sealer.seal(acme, drafts.slice(0, 500)),
    await lab.records.sealer.seal(acme, drafts.slice(500)),
  ]
  await lab.database.withTenant('acme', (tx) => lab.records.writer.insert(tx, inserted))
  await lab.database.ingest('acme', lab.records.writer.copySteps(copied, undefined, true))

  const page = await lab.reading.query(caller, { limit: 1000, verify: true })
  expect(page.verification_summary).toEqual({ checked: 1000, verified: 1000, tampered: 0, cosign_invalid: 0 })
  const records = JSON.parse(JSON.stringify(page.records)) as Record<string, unknown>[]
  for (const [i, record] of records.entries()) {
    const { verification: _, ...plain } = record
    // JSON has no -0: it is written as 0 and stays that.
    const { title, content, micros } = JSON.parse(JSON.stringify(written[i])) as (typeof written)[number]
    expect(plain).toMatchObject({ title, content })
    expect(Math.round(Number(plain.cost_usd_estimate) * 1_000_000)).toBe(micros)
    expect(plain.provenance_hash).toBe(naiveHash(plain))
  }
})

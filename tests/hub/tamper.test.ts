import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Caller, Tenant } from '../../server/http/caller.ts'
import { callerOf, decision, openRecordLab, type RecordLab, telemetry } from './record-lab.ts'

/** SQL that edits one stored value. $1 is the record, $2 its seal; `other` is another tenant of the same database. */
const ofRecord = (assignment: string) => `update hub.records set ${assignment} where record_id = $1`
const ofSeal = (assignment: string) => `update hub.seals set ${assignment} where seal_id = $2`
const ofLinks = (assignment: string) => `update hub.record_links set ${assignment} where from_id = $1`

const anotherId = `'019a0000-0000-7000-8000-000000000001'`

/** Column → ways to edit it. Every column of the catalogue must be here. */
const edits: Record<string, string[]> = {
  'records.tenant_id': [ofRecord(`tenant_id = 'other'`)],
  'records.record_id': [ofRecord(`record_id = hub.first_record_id(now())`)],
  'records.record_type': [ofRecord(`record_type = 'artifact'`), ofRecord(`record_type = 'no such type'`)],
  'records.created_by': [ofRecord(`created_by = created_by || 'x'`), ofRecord(`created_by = ''`)],
  'records.skill_id': [ofRecord(`skill_id = 'another'`)],
  'records.archetype_id': [ofRecord(`archetype_id = 'another'`)],
  'records.user_id': [ofRecord(`user_id = 'user:another'`)],
  'records.event_kind': [ofRecord(`event_kind = 'custom.another'`)],
  'records.cost_micros': [
    ofRecord(`cost_micros = coalesce(cost_micros, 0) + 1`),
    ofRecord(`cost_micros = 9223372036854775807`),
  ],
  'records.trace_id': [ofRecord(`trace_id = '${'ab'.repeat(16)}'`)],
  'records.session_id': [ofRecord(`session_id = 'another'`)],
  'records.seal_id': [ofRecord(`seal_id = ${anotherId}`)],
  'records.leaf_index': [
    ofRecord('leaf_index = 1 - leaf_index'),
    ofRecord('leaf_index = -1'),
    ofRecord('leaf_index = 32767'),
  ],
  'records.salt': [ofRecord('salt = set_byte(salt, 3, 255 - get_byte(salt, 3))'), ofRecord(`salt = ''`)],
  'records.provenance_hash': [
    ofRecord('provenance_hash = set_byte(provenance_hash, 0, 255 - get_byte(provenance_hash, 0))'),
    ofRecord(`provenance_hash = ''`),
    ofRecord(`provenance_hash = provenance_hash || '\\x00'`),
  ],
  'records.canonical': [
    ofRecord(`canonical = replace(canonical, '"schema_version":"1.0"', '"schema_version":"1.1"')`),
    ofRecord(`canonical = canonical || ' '`),
    ofRecord(`canonical = replace(canonical, '{"', '{"a":1,"')`),
    ofRecord(`canonical = ''`),
    ofRecord(`canonical = 'null'`),
    ofRecord(`canonical = '[]'`),
    ofRecord(`canonical = '{}'`),
    ofRecord(`canonical = '{"related_records":7,"is_purged":true,"cost_usd_estimate":-1}'`),
    ofRecord(`canonical = left(canonical, -5)`),
  ],
  'seals.tenant_id': [ofSeal(`tenant_id = 'other'`)],
  'seals.seal_id': [ofSeal(`seal_id = gen_random_uuid()`)],
  'seals.key_id': [
    ofSeal(`key_id = (select key_id from hub.provenance_keys where tenant_id = 'other')`),
    ofSeal(`key_id = 'nonsense'`),
    ofSeal(`key_id = ''`),
  ],
  'seals.sealed_at': [
    ofSeal(`sealed_at = sealed_at + interval '1 microsecond'`),
    ofSeal(`sealed_at = 'infinity'`),
    ofSeal(`sealed_at = '0044-03-15 BC'`),
  ],
  'seals.leaves': [
    // The record's own leaf: its inclusion path leads past it, so nothing but a comparison can notice.
    ofSeal(`leaves = set_byte(leaves, 32 * (select leaf_index from hub.records where record_id = $1), 0)`),
    ofSeal(`leaves = set_byte(leaves, octet_length(leaves) - 1, 255 - get_byte(leaves, octet_length(leaves) - 1))`),
    ofSeal(`leaves = substr(leaves, 1, octet_length(leaves) - 32)`),
    ofSeal(`leaves = leaves || substr(leaves, 1, 32)`),
    ofSeal(`leaves = leaves || '\\x00'`),
    ofSeal(`leaves = ''`),
  ],
  'seals.upper_nodes': [
    ofSeal(`upper_nodes = upper_nodes || '\\x00'`),
    ofSeal(`upper_nodes = decode(repeat('00', 32), 'hex')`),
  ],
  'seals.signature': [
    ofSeal('signature = set_byte(signature, 9, 255 - get_byte(signature, 9))'),
    ofSeal(`signature = ''`),
    ofSeal(`signature = signature || '\\x00'`),
  ],
  'record_links.tenant_id': [ofLinks(`tenant_id = 'other'`)],
  'record_links.from_id': [ofLinks(`from_id = ${anotherId}`)],
  'record_links.to_id': [ofLinks(`to_id = ${anotherId}`)],
}

/** Rows that are added or taken away. */
const rowEdits = [
  'delete from hub.seals where seal_id = $2',
  'delete from hub.record_links where from_id = $1',
  `insert into hub.record_links select tenant_id, record_id, ${anotherId} from hub.records where record_id = $1`,
]

let lab: RecordLab
let superuser: pg.Client
let acme: Tenant
let caller: Caller
let other: Caller

beforeAll(async () => {
  lab = await openRecordLab()
  superuser = await lab.superuserClient()
  acme = await lab.openTenant('acme')
  caller = callerOf(acme)
  other = callerOf(await lab.openTenant('other'))
})

afterAll(async () => {
  await lab.tampering.settled()
  await lab.drop()
})

/** Three records in one seal; the first has every index column that its type can have, and a link. */
async function writeSubject(kind: 'output' | 'governance_event'): Promise<string> {
  const [target] = await lab.write(acme, decision('target'))
  const subject =
    kind === 'output'
      ? { ...telemetry(1), recordType: 'output' as const, relatedRecords: [target!] }
      : {
          recordType: 'governance_event' as const,
          fields: { event_kind: 'custom.reviewed', subject: 'policy' },
          relatedRecords: [target!],
        }
  const [id] = await lab.write(acme, subject, decision('second'), decision('third'))
  return id!
}

async function sealOf(recordId: string): Promise<string> {
  const { rows } = await superuser.query('select seal_id from hub.records where record_id = $1', [recordId])
  return String(rows[0].seal_id)
}

/** Edits, and says how the record is found afterwards: the edit may have moved it. */
async function edit(sql: string, recordId: string): Promise<{ reader: Caller; id: string }> {
  const seal = await sealOf(recordId)
  const before = await superuser.query('select * from hub.records where record_id = $1', [recordId])
  // PostgreSQL cannot tell the type of a parameter that a statement does not use.
  const statement = sql.replaceAll('$1', `'${recordId}'`).replaceAll('$2', `'${seal}'`)
  const { rowCount } = await superuser.query(statement)
  expect(rowCount, statement).toBe(1)
  const { rows } = await superuser.query(
    'select tenant_id, record_id from hub.records where record_id = $1 or salt = $2',
    [recordId, before.rows[0].salt],
  )
  return { reader: rows[0].tenant_id === 'other' ? other : caller, id: rows[0].record_id }
}

async function expectUnverified({ reader, id }: { reader: Caller; id: string }, sql: string): Promise<void> {
  const { verified, checks } = await lab.reading.verify(reader, id)
  expect(verified, sql).toBe(false)
  const { record } = await lab.reading.get(reader, id, true)
  expect(record.verification, sql).toEqual({ verified, checks })
  expect((await lab.reading.get(reader, id, false)).record, sql).toHaveProperty('provenance_cosign')
  const page = await lab.reading.query(reader, { record_id: id, verify: true })
  expect(page.records, sql).toEqual([record])
  const isTampered = checks.provenance_hash_matches ? 0 : 1
  const isBadlyCosigned = checks.provenance_cosign_valid ? 0 : 1
  expect(page.verification_summary, sql).toEqual({
    checked: 1,
    verified: 0,
    tampered: isTampered,
    cosign_invalid: isBadlyCosigned,
  })
  expect(isTampered + isBadlyCosigned, sql).toBeGreaterThan(0)
}

describe('editing any stored value of a record makes its verification false', () => {
  test('every column of every table that holds records is edited here', async () => {
    const { rows } = await superuser.query(
      `select table_name || '.' || column_name as name from information_schema.columns
       where table_schema = 'hub' and table_name in ('records', 'seals', 'record_links')`,
    )
    expect(rows.map((row) => row.name).sort()).toEqual(Object.keys(edits).sort())
  })

  for (const kind of ['output', 'governance_event'] as const) {
    test(`an untouched ${kind} verifies`, async () => {
      const id = await writeSubject(kind)
      expect((await lab.reading.verify(caller, id)).verified).toBe(true)
    })

    for (const [column, ways] of Object.entries(edits)) {
      test(`${column} of a ${kind}`, async () => {
        for (const sql of ways) await expectUnverified(await edit(sql, await writeSubject(kind)), sql)
      })
    }
  }

  test('a column set to null', async () => {
    for (const column of ['skill_id', 'archetype_id', 'user_id', 'cost_micros']) {
      const sql = ofRecord(`${column} = null`)
      await expectUnverified(await edit(sql, await writeSubject('output')), sql)
    }
    const sql = ofRecord('event_kind = null')
    await expectUnverified(await edit(sql, await writeSubject('governance_event')), sql)
  })

  test('rows added or taken away', async () => {
    for (const sql of rowEdits) await expectUnverified(await edit(sql, await writeSubject('output')), sql)
  })

  test('a record exchanged for another honest one', async () => {
    const [first, second] = [await writeSubject('output'), await writeSubject('output')]
    await superuser.query(
      `update hub.records r set canonical = s.canonical, provenance_hash = s.provenance_hash, salt = s.salt,
         seal_id = s.seal_id, leaf_index = s.leaf_index
       from hub.records s where r.record_id = $1 and s.record_id = $2`,
      [first, second],
    )
    await expectUnverified({ reader: caller, id: first }, 'exchanged')
    expect((await lab.reading.verify(caller, second)).verified).toBe(true)
  })

  test('what is altered and what is badly cosigned are told apart', async () => {
    const altered = await edit(ofRecord(`created_by = 'mallory'`), await writeSubject('output'))
    expect((await lab.reading.verify(caller, altered.id)).checks).toEqual({
      provenance_hash_matches: false,
      provenance_cosign_valid: true,
      schema_version_supported: true,
      no_active_legal_hold_violation: true,
    })
    const forged = await edit(ofSeal(`signature = '\\x${'00'.repeat(64)}'`), await writeSubject('output'))
    expect((await lab.reading.verify(caller, forged.id)).checks).toMatchObject({
      provenance_hash_matches: true,
      provenance_cosign_valid: false,
    })
  })

  test('a governance event purged by hand, without a release', async () => {
    const id = await writeSubject('governance_event')
    await superuser.query(
      `insert into hub.record_states (tenant_id, record_id, revision, purged_at, hard_delete_after)
       values ('acme', $1, 1, now(), now() + interval '30 days')`,
      [id],
    )
    expect(await lab.reading.verify(caller, id)).toMatchObject({
      verified: false,
      // Nor is there an event that tells of it.
      checks: { provenance_hash_matches: false, no_active_legal_hold_violation: false },
    })
  })

  test.each([
    `canonical = replace(canonical, '{"', '{"is_purged":true,"')`,
    `canonical = replace(canonical, '{"', '{"is\\u005fpurged":true,"')`,
    `canonical = replace(canonical, '{"', '{"verification":{"verified":true},"')`,
    `canonical = replace(canonical, '{"', '{"provenance_cosign":"omhc1.x","')`,
    `canonical = canonical || ' '`,
    `canonical = canonical || ',{}'`,
    `canonical = '{"a":"}'`,
    `canonical = '{}'`,
    `canonical = '{ }'`,
    `canonical = '"}'`,
  ])('a text that is edited to say what the answer adds, or to break it: %s', async (assignment) => {
    const id = await writeSubject('output')
    await superuser.query(`update hub.records set ${assignment} where record_id = $1`, [id])
    for (const verify of [false, true]) {
      const { record } = await lab.reading.get(caller, id, verify)
      expect(record).toMatchObject({ is_purged: false })
      expect(record.provenance_cosign).toMatch(/^omhc1\..{164}/)
      expect(record.verification).toEqual(verify ? expect.objectContaining({ verified: false }) : undefined)
      // Of the type only: a report of tampering may come in at any moment.
      const page = await lab.reading.query(caller, { record_type: 'output', sort: '-created_at', limit: 4, verify })
      expect(page.records).toHaveLength(4)
      expect(page.records).toContainEqual(record)
    }
  })

  test('other records of an edited page still verify', async () => {
    const { id } = await edit(ofRecord(`canonical = '{}'`), await writeSubject('output'))
    for (let clean = 0; clean < 3; clean++) await writeSubject('output')
    const page = await lab.reading.query(caller, {
      ...({ record_type: 'output', sort: '-created_at', limit: 4, verify: true } as const),
    })
    expect(page.verification_summary).toEqual({ checked: 4, verified: 3, tampered: 1, cosign_invalid: 0 })
    expect(page.records.filter((record) => record.record_id === id)).toEqual([])
  })
})

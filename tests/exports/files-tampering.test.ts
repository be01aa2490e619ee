import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyFile } from '../../cli/verify/verify-file.ts'
import type { Tenant } from '../../server/http/caller.ts'
import { decision } from '../hub/record-lab.ts'
import { type ExportLab, linesOf, openExportLab } from './files-lab.ts'

let lab: ExportLab
let superuser: pg.Client
let tenants = 0

beforeAll(async () => {
  lab = await openExportLab()
  superuser = await lab.superuserClient()
})
afterAll(() => lab.drop())

/** Three seals of three records; somebody edits the middle one of the second. */
async function edited(change: string): Promise<{ tenant: Tenant; ids: string[] }> {
  const tenant = await lab.openTenant(`t${++tenants}`)
  const ids: string[] = []
  for (const name of ['a', 'b', 'c']) {
    ids.push(...(await lab.writeRecords(tenant, ...[1, 2, 3].map((n) => decision(`${name}${n}`)))))
  }
  await lab.logs.integrate(tenant)
  const { rowCount } = await superuser.query(
    change.replaceAll('$tenant', `'${tenant.slug}'`).replaceAll('$id', `'${ids[4]}'`),
  )
  expect(rowCount).toBeGreaterThan(0)
  return { tenant, ids }
}

const record = (change: string) => `update hub.records set ${change} where tenant_id = $tenant and record_id = $id`
const sealOf = 'tenant_id = $tenant and seal_id = (select seal_id from hub.records where record_id = $id)'

/** Without the events that tell of tampering, which every verification may add to. */
const decisions = { filter: { record_type: ['decision' as const] } }

describe('a record that somebody edited', () => {
  test.each([
    ['its content', record(`canonical = replace(canonical, '"approved"', '"refused"')`)],
    ['to no JSON', record(`canonical = left(canonical, -5)`)],
    ['to nothing', record(`canonical = ''`)],
    ['to another object', record(`canonical = '{"record_id":"x"}'`)],
    ['to an array', record(`canonical = '[1]'`)],
    ['to two lines', record(`canonical = replace(canonical, ',"created_by"', E',\\n"created_by"')`)],
    ['to a line with another end', record(`canonical = replace(canonical, ',"created_by"', E',\\r"created_by"')`)],
    ['to two records', record(`canonical = canonical || E'\\n' || canonical`)],
    [
      'to a text with members of the answer',
      record(`canonical = replace(canonical, '{"', '{"is_purged":true,"verification":{"verified":true},"')`),
    ],
    ['its salt', record(`salt = ''`)],
    ['its hash', record(`provenance_hash = provenance_hash || '\\x00'`)],
    ['its place', record('leaf_index = 0')],
    ['its place, to one that is none', record('leaf_index = -7')],
    ['its seal', `update hub.seals set leaves = set_byte(leaves, 40, 255 - get_byte(leaves, 40)) where ${sealOf}`],
    ['the time of its seal', `update hub.seals set sealed_at = 'infinity' where ${sealOf}`],
    ['its seal away', `delete from hub.seals where ${sealOf}`],
  ])('%s: it is exported and reported, and the file stays whole', async (what, change) => {
    const { tenant, ids } = await edited(change)
    for (const format of ['jsonl', 'csv', 'parquet'] as const) {
      const written = await lab.export(tenant, { ...decisions, format, verify: true })
      expect(written.rows).toBe(9)
      const { verified, checked, tampered, cosign_invalid } = written.verificationSummary as Record<string, number>
      expect(checked).toBe(9)
      expect(verified).toBeLessThan(9)
      expect(tampered! + cosign_invalid!).toBeGreaterThan(0)
      const { report } = await verifyFile(written.path, {})
      expect(report.verified).toBe(false)
      expect(report.failureCount).toBeGreaterThan(0)
      const plain = await lab.export(tenant, { ...decisions, format })
      expect(plain.rows).toBe(9)
      // Some edits are of the stored bytes alone: what the row says is still what was sealed.
      const isSame = format === 'jsonl' && /line|members/.test(what)
      expect((await verifyFile(plain.path, {})).report.verified).toBe(isSame)
      if (format !== 'jsonl') continue
      const verifications = linesOf(written.text).map((line) => line.verification as { verified: boolean })
      expect(verifications.filter((verification) => verification.verified)).toHaveLength(verified!)
      expect(
        linesOf(plain.text)
          .map((line) => line.record_id)
          .filter((id) => ids.includes(String(id))).length,
      ).toBeGreaterThan(7)
      const without = await lab.export(tenant, { ...decisions, includeProvenance: false })
      expect(linesOf(without.text)).toHaveLength(9)
      expect(without.text).not.toContain('"provenance_')
    }
  })

  test('deleted it: its leaf is among those that are left out', async () => {
    const { tenant } = await edited(`delete from hub.records where tenant_id = $tenant and record_id = $id`)
    const written = await lab.export(tenant)
    expect(written.rows).toBe(8)
    expect(written.manifest.counts).toEqual({ exported: 8, left_out: 1 })
    const blinded = { 1: expect.stringMatching(/^.{43}=$/) }
    expect(written.manifest.seals![1]).toEqual({ seal_id: expect.any(String), blinded })
    expect((await verifyFile(written.path, {})).report.verified).toBe(true)
  })

  test('deleted it with its seal: the leaf of the log shows that something was there', async () => {
    const { tenant } = await edited(`delete from hub.seals where ${sealOf}`)
    await superuser.query(
      `delete from hub.records r using hub.log_entries e
       where r.tenant_id = $1 and e.tenant_id = $1 and e.log_index = 1 and r.seal_id = e.seal_id`,
      [tenant.slug],
    )
    const written = await lab.export(tenant)
    expect(written.rows).toBe(6)
    expect(written.manifest.seals![1]).toEqual({ leaf: expect.stringMatching(/^.{43}=$/) })
    const { report } = await verifyFile(written.path, {})
    expect(report.verified).toBe(false)
    expect(report.manifest?.isInLog).toBe(true)
  })

  test('deleted the entry of the log: the leaf of the tree stays', async () => {
    const { tenant } = await edited(`delete from hub.log_entries where tenant_id = $tenant and log_index = 1`)
    const written = await lab.export(tenant)
    expect(written.rows).toBe(6)
    expect(written.manifest.seals![1]).toEqual({ leaf: expect.any(String) })
    const { report } = await verifyFile(written.path, {})
    expect(report.verified).toBe(false)
    expect(report.manifest?.isInLog).toBe(true)
  })

  const inserted = (sealId: string) =>
    `insert into hub.records select tenant_id, (left(record_id::text, 24) || '00000000abcd')::uuid, record_type, created_by,
       skill_id, archetype_id, user_id, event_kind, cost_micros, ${sealId}, leaf_index, salt, provenance_hash,
       replace(canonical, 'approved', 'refused') from hub.records where tenant_id = $tenant and record_id = $id`

  test('inserted one that the log does not know: it is not exported', async () => {
    const { tenant, ids } = await edited(inserted('gen_random_uuid()'))
    const written = await lab.export(tenant)
    expect(linesOf(written.text).map((line) => line.record_id)).toEqual(ids)
  })

  test('inserted one in the place of another: both are exported, and one is reported', async () => {
    const { tenant, ids } = await edited(inserted('seal_id'))
    const written = await lab.export(tenant)
    expect(
      linesOf(written.text)
        .map((line) => line.record_id)
        .sort(),
    ).toEqual([...ids, ids[4]].sort())
    const { report } = await verifyFile(written.path, {})
    expect(report).toMatchObject({ verified: false, checked: 10 })
    expect(report.failures.some(({ line }) => line === 5 || line === 6)).toBe(true)
  })
})

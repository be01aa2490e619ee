import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { canonicalize, itemOfResponse, parseKeyDocument, verifyRecordsSync } from '../../provenance/index.ts'
import type { Tenant } from '../../server/http/caller.ts'
import { nodeCrypto } from '../../server/records/node-crypto.ts'
import { type ExportLab, linesOf, mixedDrafts, openExportLab } from './files-lab.ts'

let lab: ExportLab
let tenant: Tenant
let ids: string[]

beforeAll(async () => {
  lab = await openExportLab()
  tenant = await lab.openTenant('acme')
  ids = await lab.writeRecords(tenant, ...mixedDrafts())
})
afterAll(() => lab.drop())

describe('an export in JSON Lines', () => {
  test('has each record as the API answers it, in the order of the log', async () => {
    const { text, rows, manifest } = await lab.export(tenant)
    const lines = linesOf(text)
    expect(lines.map((line) => line.record_id)).toEqual(ids)
    expect(rows).toBe(ids.length)
    const { items } = await responsesOf(ids)
    expect(text.split('\n').slice(0, -1)).toEqual(items)
    const keys = parseKeyDocument(manifest.keys as never, nodeCrypto.sha256)
    const results = verifyRecordsSync(
      lines.map((line) => itemOfResponse(line as never)),
      keys,
      nodeCrypto,
    )
    expect(results.every(({ verified }) => verified)).toBe(true)
  })

  test('is the file that its manifest states', async () => {
    const { bytes, sizeBytes, manifest, manifestPath } = await lab.export(tenant)
    expect(manifest.file).toEqual({
      name: expect.stringMatching(/^exp_\d+\.jsonl$/),
      size_bytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      rows: ids.length,
    })
    expect(sizeBytes).toBe(bytes.length + (await stat(manifestPath)).size)
    expect(Object.keys(manifest).at(-1)).toBe('seals')
    const digest = createHash('sha256')
    for (const seal of manifest.seals ?? []) digest.update(`${canonicalize(seal as never)}\n`)
    expect(digest.digest('hex')).toBe(manifest.seals_sha256)
  })
})

/** The texts that the API answers. */
async function responsesOf(recordIds: readonly string[]) {
  return lab.database.withTenant(tenant.slug, async (tx) => {
    const entries = await lab.logs.entries(tx, 0, 500)
    const found = await lab.deps.records.ofEntries(tx, entries)
    const answers = lab.deps.records.answers(tenant.slug, found)
    return { items: answers.filter((_, at) => recordIds.includes(found.records[at]!.record_id)) }
  })
}

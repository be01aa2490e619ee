import { appendFile, copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { parquetReadObjects } from 'hyparquet'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FileVerification, type VerifyOptions, verifyFile } from '../../cli/verify/verify-file.ts'
import type { Tenant } from '../../server/http/caller.ts'
import { type ExportLab, mixedDrafts, openExportLab, type WrittenFiles } from '../exports/files-lab.ts'

let lab: ExportLab
let tenant: Tenant
let directory: string
let count: number

beforeAll(async () => {
  lab = await openExportLab()
  tenant = await lab.openTenant('acme')
  const drafts = mixedDrafts()
  count = drafts.length
  // One seal of many records, and many of few.
  await lab.writeRecords(tenant, ...drafts.slice(0, 60))
  for (let at = 60; at < count; at += 3) await lab.writeRecords(tenant, ...drafts.slice(at, at + 3))
  directory = await mkdtemp(join(tmpdir(), 'hub-verify-'))
})
afterAll(async () => {
  await lab.drop()
  await rm(directory, { recursive: true, force: true })
})

let files = 0

/** Writes bytes in the place of an export's file, with its manifest beside it, and verifies them. */
async function verifyAs(made: WrittenFiles, bytes: Uint8Array | string, options: VerifyOptions = {}) {
  const path = join(directory, `${++files}.${made.manifest.file.name}`)
  await writeFile(path, bytes)
  await copyFile(made.manifestPath, `${path}.manifest.json`)
  return verifyFile(path, options)
}

function found({ report }: FileVerification): string[] {
  return report.failures.map(({ line, reason }) => `${line ?? 'file'} ${reason.split(':')[0]}`)
}

describe.each(['jsonl', 'csv', 'parquet'] as const)('an export in %s', (format) => {
  test.each([
    ['of everything', {}],
    ['verified by the Hub', { verify: true }],
    ['of some types', { filter: { record_type: ['decision', 'telemetry_event'] } }],
    ['without provenance', { includeProvenance: false }],
    ['of nothing', { filter: { created_by: 'nobody' } }],
    ...(format === 'parquet' ? [] : ([['compressed', { compression: 'gzip' }]] as const)),
  ] as const)('%s verifies', async (_, order) => {
    const made = await lab.export(tenant, { format, ...order } as never)
    const { report, trust } = await verifyFile(made.path, {})
    expect(report).toMatchObject({ verified: true, checked: made.rows, failed: 0, missing: 0, failures: [] })
    expect(report.manifest).toMatchObject({
      isSigned: true,
      file: 'matches',
      isInLog: made.manifest.seals !== undefined,
    })
    expect(trust).toMatch(/^trust on first use/)
  })

  test('verifies without its manifest, with keys alone', async () => {
    const made = await lab.export(tenant, { format })
    const keys = join(directory, 'keys.json')
    await writeFile(keys, JSON.stringify(made.manifest.keys))
    const path = join(directory, `alone.${format}`)
    await writeFile(path, made.bytes)
    const { report, trust } = await verifyFile(path, { keys })
    expect(report).toMatchObject({ verified: true, checked: count, missing: 0, manifest: undefined })
    expect(trust).toContain('completeness is unknown')
  })
})

describe.each(['jsonl', 'csv', 'parquet'] as const)('rows without provenance in %s', (format) => {
  const order = { format, includeProvenance: false } as const

  test('cannot be checked without the manifest, which is said once', async () => {
    const made = await lab.export(tenant, order)
    const keys = join(directory, 'plain-keys.json')
    await writeFile(keys, JSON.stringify(made.manifest.keys))
    const path = join(directory, `plain.${format}`)
    await writeFile(path, made.bytes)
    const message = 'these rows carry no provenance (exported without include_provenance)'
    await expect(verifyFile(path, { keys })).rejects.toThrow(message)
    const manifest = join(directory, 'broken.manifest.json')
    await writeFile(manifest, '{')
    await expect(verifyFile(path, { keys, manifest })).rejects.toThrow(
      /carry no provenance .*\(it ends before its time\)/,
    )
  })

  test('are compared as a whole, which the sentence of trust says', async () => {
    const made = await lab.export(tenant, order)
    const verification = await verifyFile(made.path, {})
    expect(verification.outcome).toBe('verified')
    expect(verification.trust).toMatch(
      /rows carry no provenance .*only the file as a whole was compared with the signed/,
    )
    expect((await verifyFile((await lab.export(tenant, { format })).path, {})).trust).not.toContain('no provenance')
  })
})

test('a row that lost its provenance among others fails, with one finding', async () => {
  const made = await lab.export(tenant, { format: 'jsonl' })
  const keys = join(directory, 'stripped-keys.json')
  await writeFile(keys, JSON.stringify(made.manifest.keys))
  const path = join(directory, 'stripped.jsonl')
  const lines = rowsOf(made.text, 'jsonl')
  const { provenance_hash: _, provenance_cosign: __, ...record } = JSON.parse(lines[4]!)
  await writeFile(path, lines.with(4, `${JSON.stringify(record)}\n`).join(''))
  expect(found(await verifyFile(path, { keys }))).toEqual(['5 no-provenance'])
})

describe('lines', () => {
  test.each(['jsonl', 'csv'] as const)('that were removed, added or changed are found in %s', async (format) => {
    const made = await lab.export(tenant, { format, filter: { record_type: ['artifact', 'telemetry_event'] } })
    const other = await lab.export(tenant, { format, filter: { record_type: ['decision'] } })
    const [lines, others] = [rowsOf(made.text, format), rowsOf(other.text, format)]
    const at = Math.floor(lines.length / 2)
    const lineOf = (rows: readonly string[]) => rows.slice(0, at).join('').split('\n').length
    const removed = await verifyAs(made, lines.toSpliced(at, 1).join(''))
    expect(removed.report).toMatchObject({ verified: false, failed: 0, missing: 1 })
    expect(found(removed)[0]).toBe(`${lineOf(lines)} missing`)
    const added = await verifyAs(made, lines.toSpliced(at, 0, others[3]!).join(''))
    expect(added.report).toMatchObject({ verified: false, failed: 1, missing: 0 })
    expect(found(added)).toContain(`${lineOf(lines)} not-exported`)
    // In the text of the row, and so in a typed cell of CSV or in its canonical text.
    const row = lines[at]!
    for (let i = 5; i < row.length - 3; i += 41) {
      const changed = row.slice(0, i) + (row[i] === 'x' ? 'y' : 'x') + row.slice(i + 1)
      const { report } = await verifyAs(made, lines.with(at, changed).join(''))
      expect([i, report.verified, report.failures[0]!.line]).toEqual([i, false, lineOf(lines)])
    }
  })
})

describe('typed columns', () => {
  test('of CSV must say what the canonical text says', async () => {
    const made = await lab.export(tenant, { format: 'csv', filter: { record_type: ['telemetry_event'] } })
    const edited = await verifyAs(made, made.text.replace('599999', '599998'))
    expect(found(edited)[0]).toBe('2 cell-mismatch')
    expect(edited.report.failures[0]!.reason).toContain('latency_ms')
    const unguarded = await lab.export(tenant, { format: 'csv', filter: { record_type: ['decision'] } })
    expect(found(await verifyAs(unguarded, unguarded.text.replace("'=1+1", '=1+1')))[0]).toBe('2 cell-mismatch')
  })

  test('must exist under their names', async () => {
    const made = await lab.export(tenant, { format: 'csv' })
    const renamed = await verifyAs(made, made.text.replace('decision_outcome', 'decision_result'))
    expect(found(renamed)).toEqual(['file columns', 'file file-size', 'file file-hash'])
    const plain = await lab.export(tenant, { format: 'csv', includeProvenance: false })
    const stripped = await verifyAs(made, plain.text)
    expect(stripped.report).toMatchObject({ verified: false, failed: count })
    expect(found(stripped)).toContain('2 no-provenance')
    const fewer = await verifyAs(made, made.text.replace(/\r\n$/, ',more\r\n'))
    expect(found(fewer)[0]).toMatch(/ csv-malformed$/)
  })

  test('of Parquet must say what the canonical text says, to the microsecond', async () => {
    const made = await lab.export(tenant, { format: 'parquet', filter: { record_type: ['telemetry_event'] } })
    const file = made.bytes.buffer.slice(
      made.bytes.byteOffset,
      made.bytes.byteOffset + made.bytes.byteLength,
    ) as ArrayBuffer
    const parsers = { timestampFromMicroseconds: (micros: bigint) => micros }
    const rows = await parquetReadObjects({ file, parsers })
    const rewrite = (cells: Record<string, unknown>) => {
      const changed = rows.with(2, { ...rows[2]!, ...cells })
      return Buffer.from(
        parquetWriteBuffer({ columnData: Object.keys(rows[0]!).map((name) => columnOf(name, changed)) }),
      )
    }
    expect(found(await verifyAs(made, rewrite({}))).filter((each) => !each.startsWith('file'))).toEqual([])
    for (const [name, value] of [
      ['ts', (rows[2]!.ts as bigint) + 1n],
      ['tokens_in', 7n],
      ['cost_usd_estimate', 0.000002],
      ['success', null],
      ['user_id', 'user:somebody'],
      ['title', 'x'],
      ['metadata', '{}'],
    ] as const) {
      const report = await verifyAs(made, rewrite({ [name]: value }))
      expect([name, found(report)[0], report.report.failed]).toEqual([name, '3 cell-mismatch', 1])
    }
    expect(found(await verifyAs(made, rewrite({ canonical: '{}' })))[0]).toBe('3 hash-mismatch')
  })
})

describe('damage', () => {
  test('of a Parquet file is found wherever it is', async () => {
    const made = await lab.export(tenant, { format: 'parquet' })
    for (let at = 0; at < made.bytes.length; at += Math.ceil(made.bytes.length / 40)) {
      const bytes = Buffer.from(made.bytes)
      bytes[at]! ^= 0x41
      const { report } = await verifyAs(made, bytes, { parquetGroupMs: 3000 })
      expect([at, report.verified]).toEqual([at, false])
    }
  })

  test('of a compressed file is found wherever it is', async () => {
    const made = await lab.export(tenant, { compression: 'gzip' })
    for (let at = 0; at < made.bytes.length; at += Math.ceil(made.bytes.length / 100)) {
      const bytes = Buffer.from(made.bytes)
      bytes[at]! ^= 0x41
      const { report } = await verifyAs(made, bytes)
      expect([at, report.verified]).toEqual([at, false])
    }
    const half = await verifyAs(made, made.bytes.subarray(0, made.bytes.length / 2))
    expect(found(half)).toContain('file file-damaged')
    expect(half.report.missing).toBeGreaterThan(0)
    expect((await verifyAs(made, Buffer.concat([made.bytes, gzipSync('{}\n')]))).report.verified).toBe(false)
  })

  test('of a manifest is found, with and without keys of one’s own', async () => {
    const made = await lab.export(tenant)
    const keys = join(directory, 'own-keys.json')
    await writeFile(keys, JSON.stringify(made.manifest.keys))
    const path = join(directory, 'damaged.jsonl')
    await writeFile(path, made.bytes)
    await writeFile(`${path}.manifest.json`, (await readFile(made.manifestPath, 'utf8')).slice(0, -20))
    await expect(verifyFile(path, {})).rejects.toThrow('cannot be used: it ends before its time')
    const pinned = await verifyFile(path, { keys })
    expect(pinned.report).toMatchObject({ verified: false, checked: count, failed: 0 })
    expect(found(pinned)).toEqual(['file manifest-malformed'])
    expect(pinned.outcome).toBe('unchecked')
    expect(pinned.trust).toMatch(/completeness is unknown, because the manifest cannot be read$/)
    // With a row that is wrong there is something to say.
    await writeFile(path, made.text.replace('"record_type":"decision"', '"record_type":"artifact"'))
    expect((await verifyFile(path, { keys })).outcome).toBe('failed')
    await writeFile(`${path}.manifest.json`, JSON.stringify({ ...made.manifest, keys: undefined }))
    await expect(verifyFile(path, {})).rejects.toThrow('cannot be used: it brings no keys that can be read')
    await appendFile(keys, 'x')
    await expect(verifyFile(path, { keys })).rejects.toThrow('no keys that can be used')
  })
})

test('a file that was packed or unpacked since still verifies, row by row', async () => {
  const packed = await lab.export(tenant, { compression: 'gzip' })
  const unpackedPath = join(directory, 'unpacked.jsonl')
  await writeFile(unpackedPath, gunzipSync(packed.bytes))
  await copyFile(packed.manifestPath, `${unpackedPath}.gz.manifest.json`)
  const unpacked = await verifyFile(unpackedPath, {})
  expect(unpacked.report).toMatchObject({ verified: true, checked: count, manifest: { file: 'not-compared' } })

  const plain = await lab.export(tenant)
  const packedPath = join(directory, 'packed.jsonl.gz')
  await writeFile(packedPath, gzipSync(plain.bytes))
  await copyFile(plain.manifestPath, join(directory, 'packed.jsonl.manifest.json'))
  const repacked = await verifyFile(packedPath, {})
  expect(repacked.report).toMatchObject({ verified: true, checked: count, manifest: { file: 'matches' } })

  const bare = await lab.export(tenant, { compression: 'gzip', includeProvenance: false })
  const barePath = join(directory, 'bare.jsonl')
  await writeFile(barePath, gunzipSync(bare.bytes))
  expect(found(await verifyFile(barePath, { manifest: bare.manifestPath }))).toEqual(['file file-hash'])
})

/** With their ends; of CSV the header, too. */
function rowsOf(text: string, format: 'jsonl' | 'csv'): string[] {
  if (format === 'jsonl') return text.split(/(?<=\n)/)
  // A row ends where the line does outside of quotes.
  return text.match(/(?:"[^"]*"|[^"\r])*\r\n/g) ?? []
}

function columnOf(name: string, rows: readonly Record<string, unknown>[]) {
  const data = rows.map((row) => row[name] ?? null)
  if (name === 'ts' || name === 'created_at') return { name, data: data as bigint[], type: 'INT64' as const }
  const sample = data.find((value) => value !== null)
  if (typeof sample === 'bigint') return { name, data: data as bigint[], type: 'INT64' as const }
  if (typeof sample === 'number') return { name, data: data as number[], type: 'DOUBLE' as const }
  if (typeof sample === 'boolean') return { name, data: data as boolean[], type: 'BOOLEAN' as const }
  return { name, data: data as string[], type: 'STRING' as const }
}

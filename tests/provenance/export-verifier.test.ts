import { describe, expect, test } from 'vitest'
import { toBase64 } from '../../provenance/bytes.ts'
import { canonicalize, type JsonObject, logLeafHash } from '../../provenance/index.ts'
import { exportRecord, makeExport, manifestOf, rowText, sealedLog, sealsDigest, signedManifest } from './export-lab.ts'
import { firstKey, sealTexts, secondKey, strangeKey } from './fixtures.ts'
import { sha256 } from './node-crypto.ts'
import { verifyExport, verifyExportSync } from './verify-export.ts'

const keys = new Map([firstKey, secondKey].map((key) => [key.keyId, key]))
const log = sealedLog([64, 1, 3, 64, 20, 5, 1, 1, 9])
const whole = makeExport(log)
const isDecision = (record: JsonObject) => record.record_type === 'decision'

/** Line 66 is the first of a seal of three, 85 in the middle of one of 64. */
const verify = (rows: readonly string[], made: { manifest: object } = whole) =>
  verifyExportSync({ file: rows.map((row) => `${row}\n`).join(''), manifest: JSON.stringify(made.manifest), keys })

/** Failures that name a row, as `line code`. */
function found({ failures }: ReturnType<typeof verify>): string[] {
  return failures.map(({ line, reason }) => `${line ?? 'file'} ${reason.split(':')[0]}`)
}

describe('an export that is whole', () => {
  test.each([
    ['of the whole log', makeExport(log), 168, 0],
    ['of a range', makeExport(log, { from: 2, to: 7 }), 93, 0],
    ['of a range that ends the log', makeExport(log, { from: 5 }), 16, 0],
    ['that leaves records out', makeExport(log, { keeps: isDecision }), 56, 112],
    ['that leaves whole seals out', makeExport(log, { keeps: (_, entry) => entry % 2 === 1 }), 71, 97],
    ['with what the Hub found when it verified', makeExport(log, { verification: true }), 168, 0],
    ['without any record', makeExport(log, { keeps: () => false }), 0, 168],
    ['of an empty range', makeExport(log, { from: 3, to: 3 }), 0, 0],
    ['of an empty log', makeExport([]), 0, 0],
  ])('%s', async (_, { file, manifest }, rows, leftOut) => {
    const input = { file, manifest: JSON.stringify(manifest), keys }
    const report = verifyExportSync(input)
    expect(report).toMatchObject({ verified: true, checked: rows, failed: 0, missing: 0, failures: [] })
    expect(report.manifest).toEqual({ isSigned: true, isInLog: true, leftOut, file: 'matches' })
    expect(await verifyExport(input)).toEqual(report)
  })

  test('however it is cut into pieces and its manifest is laid out', () => {
    for (const chunkBytes of [1, 7, 64, 1 << 20]) {
      const manifest = JSON.stringify(whole.manifest, null, chunkBytes === 7 ? 2 : 0)
      expect(verifyExportSync({ file: whole.file, manifest, keys, chunkBytes }).failures).toEqual([])
    }
  })

  test('without provenance, of which only the whole file is signed', () => {
    const { file, manifest } = makeExport(log, { includeProvenance: false })
    const input = { file, manifest: JSON.stringify(manifest), keys }
    expect(verifyExportSync(input)).toMatchObject({ verified: true, checked: 168, signatures: 0 })
    const report = verifyExportSync({ ...input, file: file.replace('No. 5 ', 'No. 6 ') })
    expect(found(report)).toEqual(['file file-hash'])
  })

  test('without its manifest: its rows, and nothing about those that are not there', () => {
    expect(verifyExportSync({ file: whole.rows.slice(3, 90).join('\n'), keys })).toMatchObject({
      verified: true,
      checked: 87,
      missing: 0,
      manifest: undefined,
    })
  })
})

describe('one thing that was changed', () => {
  test('a flipped byte is found at its line, wherever it is', () => {
    const made = makeExport(sealedLog([2, 5, 1], firstKey, 'flipped'))
    const row = made.rows[4]!
    for (let at = 0; at < row.length; at++) {
      // The one of these whose lowest bit gives no control character, so that lines stay lines.
      const flipped = row.slice(0, at) + String.fromCharCode(row.charCodeAt(at) ^ 1) + row.slice(at + 1)
      const report = verify(made.rows.with(4, flipped), made)
      expect([report.verified, report.failed, report.missing]).toEqual([false, 1, 0])
      const lines = new Set(report.failures.map(({ line }) => line).filter((line) => line !== null))
      expect([at, ...lines]).toEqual([at, 5])
    }
  })

  test('a removed line is missing where it was', () => {
    for (const at of [0, 63, 64, 66, 84, 158, 167]) {
      const report = verify(whole.rows.toSpliced(at, 1))
      expect([report.verified, report.checked, report.failed, report.missing]).toEqual([false, 167, 0, 1])
      expect(report.failures[0]).toMatchObject({ line: at + 1, record_id: null })
      expect(report.failures[0]!.reason).toMatch(/^missing: /)
    }
  })

  test('an added line is found: of another export, of the same, from a log of another key, or made up', () => {
    const other = makeExport(sealedLog([5], firstKey, 'other')).rows[2]!
    const strange = makeExport(sealedLog([5], strangeKey, 'strange')).rows[2]!
    for (const [row, code] of [
      [other, 'not-in-range'],
      [strange, 'not-in-range'],
      [whole.rows[3]!, 'duplicate'],
      [whole.rows[84]!, 'duplicate'],
      ['{"record_id":"x"}', 'no-provenance'],
      ['{"record_id":"x","provenance_hash":""}', 'hash-malformed'],
      ['', 'record-malformed'],
    ] as const) {
      const report = verify(whole.rows.toSpliced(84, 0, row))
      expect([report.verified, report.checked, report.missing]).toEqual([false, 169, 0])
      // Of two that are the same, the second one is.
      expect(found(report).filter((each) => /^8[56] /.test(each))).toContain(
        `${row === whole.rows[84] ? 86 : 85} ${code}`,
      )
    }
  })

  test('a line of another export in the place of one', () => {
    const other = makeExport(sealedLog([5], firstKey, 'other')).rows[2]!
    const report = verify(whole.rows.with(84, other))
    expect(report).toMatchObject({ verified: false, failed: 1, missing: 1 })
    expect(found(report)).toContain('85 not-in-range')
  })

  test('lines in another order', () => {
    const { rows } = whole
    expect(found(verify(rows.with(84, rows[85]!).with(85, rows[84]!)))).toEqual(['86 out-of-order', 'file file-hash'])
    expect(found(verify([...rows.slice(1), rows[0]!]))).toEqual(['168 out-of-order', 'file file-hash'])
  })

  test('content, with a hash that fits it', () => {
    const text = canonicalize({ ...(JSON.parse(log[3]!.texts[17]!) as JsonObject), title: 'edited' })
    const forged = sealTexts([text], strangeKey, 'forged').items[0]!
    const own = log[3]!.sealed.items[17]!
    const report = verify(whole.rows.with(85, rowText(text, forged.hash, own.cosign)))
    expect(report).toMatchObject({ failed: 1, missing: 0 })
    expect(report.failures[0]).toMatchObject({ line: 86, record_id: exportRecord(85).record_id })
    expect(found(report)).toEqual(['86 signature-invalid', 'file file-size', 'file file-hash'])
  })

  test('two rows that changed their cosignatures, and a record that says to be purged', () => {
    const [a, b] = [log[3]!.sealed.items[1]!, log[3]!.sealed.items[2]!]
    const swapped = [rowText(a.record, a.hash, b.cosign), rowText(b.record, b.hash, a.cosign)]
    expect(found(verify(whole.rows.toSpliced(69, 2, ...swapped)))).toEqual([
      '70 signature-invalid',
      '71 out-of-order',
      '71 signature-invalid',
      'file file-hash',
    ])
    const purged = whole.rows[84]!.replace('"is_purged":false,"prov', '"is_purged":true,"prov')
    expect(found(verify(whole.rows.with(84, purged)))).toEqual(['85 purged', 'file file-size', 'file file-hash'])
  })

  test('everything behind some line, and everything', () => {
    expect(verify(whole.rows.slice(0, 100))).toMatchObject({ verified: false, failed: 0, missing: 68 })
    expect(verify([])).toMatchObject({ verified: false, failed: 0, missing: 168 })
  })
})

describe('what a reader of a row would take for part of the record', () => {
  const [row] = whole.rows as [string]
  const tail = row.indexOf(',"is_purged":false')
  test.each([
    ['a member more in front', `{"title":"forged",${row.slice(1)}`, 'record-malformed'],
    ['a member more behind', `${row.slice(0, -1)},"title":"forged"}`, 'record-malformed'],
    ['an unknown member behind', `${row.slice(0, -1)},"remark":"forged"}`, 'hash-mismatch'],
    ['an unknown member between', `${row.slice(0, tail)},"remark":"forged"${row.slice(tail)}`, 'hash-mismatch'],
    ['the purge state twice', `${row.slice(0, tail)},"is_purged":true${row.slice(tail)}`, 'record-malformed'],
    ['the hash twice', `${row.slice(0, -1)},"provenance_hash":"sha256:00"}`, 'record-malformed'],
    ['another record behind', `${row}${row}`, 'record-malformed'],
    ['another verification', `${row.slice(0, -1)},"verification":{"verified":false}}`, 'hub-verification'],
    ['a verification that is none', `${row.slice(0, -1)},"verification":{"verified":true}}`, 'hub-verification'],
  ])('%s', (_, forged, code) => {
    const report = verifyExportSync({ file: forged, keys })
    expect(found(report)).toEqual([`1 ${code}`])
  })

  test('spaces, escapes and another order of members are taken as what they mean', () => {
    const { content, ...rest } = JSON.parse(row) as JsonObject
    const rewritten = JSON.stringify({ ...rest, content }, null, 1).replaceAll('\n', ' ')
    expect(verifyExportSync({ file: rewritten, keys }).failures).toEqual([])
  })

  test('a version of the schema that only something inside the record has', () => {
    const record = exportRecord(1, {
      schema_version: '2.0',
      content: { schema_version: '1.0' },
      note: { schema_version: '1.0' },
    })
    const { items } = sealTexts([canonicalize(record)], firstKey, 'versions')
    const report = verifyExportSync({ file: rowText(items[0]!.record, items[0]!.hash, items[0]!.cosign), keys })
    expect(found(report)).toEqual(['1 schema-version-unsupported'])
  })
})

describe('a manifest that was changed', () => {
  const stated = (change: (manifest: typeof whole.manifest) => object) =>
    verifyExportSync({ file: whole.file, manifest: JSON.stringify(change(structuredClone(whole.manifest))), keys })

  test.each<[string, (manifest: typeof whole.manifest) => object, string]>([
    ['its counts', (m) => ({ ...m, counts: { ...m.counts, left_out: 3 } }), 'file manifest-statement'],
    [
      'its filter',
      (m) => ({ ...m, export: { ...m.export, filter: { user_id: 'user:kim' } } }),
      'file manifest-statement',
    ],
    ['a member more', (m) => ({ ...m, remark: 'added' }), 'file manifest-statement'],
    ['its file', (m) => ({ ...m, file: { ...m.file, rows: 167 } }), 'file manifest-statement'],
    [
      'its checkpoint',
      (m) => ({ ...m, log: { ...m.log, checkpoint: m.log.checkpoint.replace('time 1', 'time 2') } }),
      'file checkpoint',
    ],
    ['a seal left out', (m) => ({ ...m, seals: m.seals!.slice(1) }), 'file manifest-seals'],
    ['a seal more', (m) => ({ ...m, seals: [...m.seals!, { leaf: `${'A'.repeat(43)}=` }] }), 'file manifest-seals'],
    ['no seals', ({ seals: _, ...m }) => m, 'file manifest-seals'],
  ])('%s', (_, change, expected) => {
    const report = stated(change)
    expect(report.verified).toBe(false)
    expect(found(report)).toContain(expected)
  })

  test('and signed anew by whoever has another key', () => {
    const { statement: _, seals, ...rest } = makeExport(log, { keeps: (record) => !isDecision(record) }).manifest
    const file = makeExport(log, { keeps: (record) => !isDecision(record) }).file
    const manifest = signedManifest(
      { ...rest, counts: { exported: 112, left_out: 0 } },
      { ...strangeKey, name: firstKey.name },
      seals,
    )
    const report = verifyExportSync({ file, manifest: JSON.stringify(manifest), keys })
    expect(found(report)).toEqual(['file manifest-statement', 'file manifest-counts'])
  })

  test('signed with the right key, but with leaves that are not those of the seal', () => {
    const made = makeExport(log, { keeps: isDecision })
    const seals = structuredClone([...made.manifest.seals!]) as { blinded?: Record<string, string> }[]
    const blinded = seals[0]!.blinded!
    ;[blinded[1], blinded[2]] = [blinded[2]!, blinded[1]!]
    const { statement: _, seals: __, ...rest } = made.manifest
    const manifest = signedManifest({ ...rest, seals_sha256: sealsDigest(seals as never) }, firstKey, seals as never)
    const report = verifyExportSync({ file: made.file, manifest: JSON.stringify(manifest), keys })
    expect(found(report)).toEqual(['file blinded-leaves'])
  })

  test('signed with the right key, with a range that does not lead to the checkpoint', () => {
    const { statement: _, seals, ...rest } = makeExport(log, { from: 2, to: 7 }).manifest
    const file = makeExport(log, { from: 2, to: 7 }).file
    const change = (logMembers: object) => {
      const manifest = signedManifest({ ...rest, log: { ...rest.log, ...logMembers } }, firstKey, seals)
      return found(verifyExportSync({ file, manifest: JSON.stringify(manifest), keys }))
    }
    expect(change({ left: rest.log.right.slice(0, 1) })).toEqual(['file log-root'])
    expect(change({ left: [] })).toEqual(['file log-root'])
    expect(change({ from: 1, to: 6 })).toEqual(['file log-root'])
    expect(change({ tree_size: 8 })).toContain('file checkpoint')
  })

  test('a seal that the store has lost', () => {
    const made = makeExport(log, { keeps: (_, entry) => entry !== 3 })
    const seals = made.manifest.seals!.with(3, { leaf: toBase64(logLeafHash(log[3]!.note, sha256)) })
    const manifest = manifestOf(made.file, { log, key: firstKey, from: 0, to: 9, rows: 104, leftOut: 0, seals })
    const report = verifyExportSync({ file: made.file, manifest: JSON.stringify(manifest), keys })
    expect(report).toMatchObject({ verified: false, failed: 0, missing: 1 })
    expect(found(report)).toEqual(['69 seal-lost'])
    expect(report.manifest?.isInLog).toBe(true)
  })

  test('one that is no JSON, has a member twice, or names a seal twice is none', () => {
    const text = JSON.stringify(whole.manifest)
    const read = (manifest: string) => verifyExportSync({ file: whole.file, manifest, keys })
    expect(() => read(text.slice(0, -1))).toThrow('ends before its time')
    expect(() => read(`${text}x`)).toThrow('something stands behind')
    expect(() => read(text.replace('"counts":', '"counts":{},"counts":'))).toThrow('"counts" occurs twice')
    expect(() => read(text.replace('"exported":', '"exported":1,"exported":'))).toThrow('"exported" occurs twice')
    expect(() =>
      read(JSON.stringify({ ...whole.manifest, seals: [...whole.manifest.seals!, whole.manifest.seals![0]] })),
    ).toThrow('names a seal for the second time')
  })
})

describe('many seals', () => {
  const many = sealedLog(Array<number>(700).fill(2))
  const made = makeExport(many)

  test('a row far from its place is one failure, wherever it comes from', () => {
    const moved = [made.rows[1300]!, ...made.rows.toSpliced(1300, 1)]
    expect(verify(moved, made)).toMatchObject({ failed: 1, missing: 0 })
    const later = [...made.rows.slice(0, 10), ...made.rows.slice(11, 1200), made.rows[10]!, ...made.rows.slice(1200)]
    expect(verify(later, made)).toMatchObject({ failed: 1, missing: 0 })
  })

  test('a long stretch that is not there is missing, and nothing else', () => {
    const report = verify([...made.rows.slice(0, 100), ...made.rows.slice(900)], made)
    expect(report).toMatchObject({ checked: 600, failed: 0, missing: 800 })
  })

  test('a lot of rows of another export are not taken for these', () => {
    const others = makeExport(sealedLog([...Array<number>(30).fill(50)], firstKey, 'others')).rows
    const report = verify([...made.rows.slice(0, 100), ...others, ...made.rows.slice(100)], made)
    expect(report).toMatchObject({ checked: 2900, failed: 1500, missing: 0 })
  })
})

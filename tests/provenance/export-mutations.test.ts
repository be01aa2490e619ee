import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { utf8 } from '../../provenance/bytes.ts'
import { ProvenanceError } from '../../provenance/index.ts'
import { type MadeExport, makeExport, sealedLog } from './export-lab.ts'
import { firstKey } from './fixtures.ts'
import { verifyExport, verifyExportSync } from './verify-export.ts'

const keys = new Map([[firstKey.keyId, firstKey]])
const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 6 }), fc.constant(64)), { minLength: 1, maxLength: 6 })

/** An export of a range of some log, with some of its records. */
const exports = fc
  .record({
    sizes,
    from: fc.nat(5),
    length: fc.nat(6),
    kept: fc.integer({ min: 0, max: 8 }),
    verification: fc.boolean(),
  })
  .map(({ sizes: all, from, length, kept, verification }) => {
    const first = Math.min(from, all.length)
    const to = Math.min(all.length, first + length)
    // Of neighbours some are kept and some not, and all of some seals.
    const keeps = (_: unknown, entry: number, leaf: number) => (entry * 7 + leaf * 5) % 8 < kept
    return makeExport(sealedLog(all), { from: first, to, keeps, verification })
  })

const others = makeExport(sealedLog([3, 1], firstKey, 'others')).rows

type Mutation = (bytes: Uint8Array, rows: readonly string[]) => Uint8Array

const joined = (rows: readonly string[]) => utf8(rows.map((row) => `${row}\n`).join(''))

/** Of the bytes of a text, or of its lines. */
const mutations = fc.oneof<fc.Arbitrary<Mutation>[]>(
  fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })).map(([at, bits]) => (bytes) => {
    const changed = bytes.slice()
    if (changed.length > 0) changed[at % changed.length]! ^= bits
    return changed
  }),
  fc.tuple(fc.nat(), fc.nat(300)).map(([at, count]) => (bytes) => {
    const from = at % (bytes.length + 1)
    return Uint8Array.from([...bytes.subarray(0, from), ...bytes.subarray(from + count)])
  }),
  fc.tuple(fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 20 })).map(([at, more]) => (bytes) => {
    const from = at % (bytes.length + 1)
    return Uint8Array.from([...bytes.subarray(0, from), ...more, ...bytes.subarray(from)])
  }),
  fc.nat().map((at) => (_, rows) => joined(rows.toSpliced(at % Math.max(1, rows.length), 1))),
  fc.tuple(fc.nat(), fc.nat(3)).map(
    ([at, which]) =>
      (_, rows) =>
        joined(rows.toSpliced(at % (rows.length + 1), 0, others[which]!)),
  ),
  fc.tuple(fc.nat(), fc.nat(3)).map(([at, which]) => (_, rows) => {
    return joined(rows.toSpliced(at % Math.max(1, rows.length), 1, others[which]!))
  }),
  fc.tuple(fc.nat(), fc.nat()).map(([a, b]) => (_, rows) => {
    const changed = [...rows]
    const [i, j] = [a % Math.max(1, rows.length), b % Math.max(1, rows.length)]
    if (rows.length > 0) [changed[i], changed[j]] = [changed[j]!, changed[i]!]
    return joined(changed)
  }),
)

const manifestText = ({ manifest }: MadeExport) => JSON.stringify(manifest)

/** What a consumer gets out of a file; undefined where that fails. */
function meaning(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return JSON.stringify(text.split('\n').map((line) => (line === '' ? null : JSON.parse(line))))
  } catch {
    return undefined
  }
}

/** The manifest is one JSON document, in which white space means nothing. */
function documentOf(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text))
  } catch {
    return undefined
  }
}

describe('exports of all kinds', () => {
  test('verify when nothing was changed', async () => {
    await fc.assert(
      fc.asyncProperty(exports, fc.integer({ min: 1, max: 5000 }), async (made, chunkBytes) => {
        const input = { file: made.file, manifest: manifestText(made), keys, chunkBytes }
        const report = verifyExportSync(input)
        expect(report).toMatchObject({ verified: true, failures: [], checked: made.rows.length })
        expect(report.manifest).toMatchObject({ isSigned: true, isInLog: true, file: 'matches' })
        expect(await verifyExport(input)).toEqual(report)
      }),
      { numRuns: 25 },
    )
  })

  test('never verify when the file was changed, and say in which line unless it still says the same', () => {
    fc.assert(
      fc.property(exports, mutations, (made, mutate) => {
        const before = utf8(made.file)
        const file = mutate(before, made.rows)
        fc.pre(Buffer.compare(before, file) !== 0)
        const report = verifyExportSync({ file, manifest: manifestText(made), keys })
        expect(report.verified).toBe(false)
        const named = report.failures.filter(({ line }) => line !== null)
        if (meaning(file) !== meaning(before) || meaning(file) === undefined) expect(named.length).toBeGreaterThan(0)
        expect(named.length > 0).toBe(report.failed + report.missing > 0)
        // A record is there and right, there and wrong, or missing.
        expect(report.checked - report.failed + report.failed + report.missing).toBeGreaterThanOrEqual(made.rows.length)
      }),
      { numRuns: 300 },
    )
  })

  test('never verify when the manifest was changed', () => {
    fc.assert(
      fc.property(exports, mutations, (made, mutate) => {
        const before = utf8(manifestText(made))
        const manifest = Buffer.from(mutate(before, [])).toString()
        fc.pre(manifest !== manifestText(made))
        expect(isVerified(made, manifest)).toBe(documentOf(manifest) === documentOf(manifestText(made)))
      }),
      { numRuns: 300 },
    )
  })
})

function isVerified({ file }: MadeExport, manifest: string): boolean {
  try {
    return verifyExportSync({ file, manifest, keys }).verified
  } catch (error) {
    if (error instanceof ProvenanceError) return false
    throw error
  }
}

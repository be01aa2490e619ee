import { equalBytes, toHex } from '../bytes.ts'
import { cosignBytes } from '../cosign-bytes.ts'
import { Findings, type NamedRow, type VerificationFailure } from '../findings.ts'
import type { JsonObject } from '../json.ts'
import type { KeyRing } from '../keys.ts'
import { RangeSeals } from '../range-seals.ts'
import { leafHashInput } from '../seal.ts'
import { LooseSeals } from '../seal-placement.ts'
import { type SyncAsyncTask, sha256Of } from '../sync-async-runner.ts'
import { findMembers, isSupportedVersion, type RecordMembers, RowReader, recordIdAt } from './export-row.ts'
import { checkManifest } from './manifest-check.ts'
import { noProvenance, type ParsedRow, parseCanonical, parsedRecord, parseRow } from './parsed-row.ts'
import type { PreparedManifest } from './prepared-manifest.ts'
import type { SealCheck } from './sealed-rows.ts'
import { UnplacedRows } from './sealed-rows.ts'

/** The scope and result of a verification. */
export type VerificationReport = {
  /** True if no failure was found. */
  readonly verified: boolean
  /** Number of rows. */
  readonly checked: number
  /** Number of rows with a failure. */
  readonly failed: number
  /** Number of rows without hash and cosignature although required; `failed` includes them. */
  readonly withoutProvenance: number
  /** Number of records that the manifest lists but the file lacks. */
  readonly missing: number
  readonly failures: readonly VerificationFailure[]
  /** Number of failures, including unlisted ones. */
  readonly failureCount: number
  readonly signatures: number
  /** Results that need a manifest; undefined without one. */
  readonly manifest:
    | {
        readonly isSigned: boolean
        /** True if the range leads to the root of the signed checkpoint. Always false if rows carry no provenance. */
        readonly isInLog: boolean
        /**
         * Number of leaves of the range without a row in the file, except for lost seals; undefined if a seal is
         * unreadable.
         */
        readonly leftOut: number | undefined
        readonly file: 'matches' | 'differs' | 'not-compared'
      }
    | undefined
}

/** Size and hash of the downloaded file, as far as it was read. */
export type FileDigest = { readonly sizeBytes: number; readonly sha256: Uint8Array }

/**
 * Verifies an export row by row in bounded memory, with or without its manifest. Node, the command line and browsers
 * share it: each method is a {@link SyncAsyncTask} for `runSync` or `runAsync`.
 *
 * `line` locates a row in failures: the 1-based line in JSONL and CSV, the 1-based row in Parquet.
 */
export class ExportVerifier {
  readonly #manifest: PreparedManifest | undefined
  readonly #keys: KeyRing
  readonly #check: SealCheck
  readonly #placement: RangeSeals | LooseSeals | undefined
  /** The types whose rows may lack content; the signed manifest has them. */
  readonly #mayOmit: readonly string[]
  readonly #reader = new RowReader()
  readonly #members: RecordMembers = { recordIdAt: 0, schemaVersionAt: 0 }
  #rows = 0
  #lastLine = 0
  #withoutProvenance = 0

  /**
   * @param keys the trusted keys
   * @param manifest the manifest of the file, if present
   */
  constructor(keys: KeyRing, manifest?: PreparedManifest) {
    this.#keys = keys
    this.#manifest = manifest
    this.#mayOmit = manifest?.head.export.content_omitted ?? []
    const findings = new Findings()
    const logName = manifest?.head.log.name
    this.#check = { keys, logName, findings, unplaced: new UnplacedRows(), signatures: 0 }
    if (manifest === undefined) this.#placement = new LooseSeals(this.#check)
    else if (manifest.seals !== undefined) {
      this.#placement = new RangeSeals(this.#check, manifest.head, manifest.seals.all(), manifest.seals.index)
    }
  }

  /** Verifies a row of JSON, without its line feed. */
  *jsonRow(line: number, row: Uint8Array): SyncAsyncTask<void> {
    this.#begin(line)
    const reader = this.#reader
    if (this.#placement === undefined) return
    if (!reader.read(row)) return yield* this.#parsed(line, yield* parseRow(row, this.#mayOmit))
    const hash = yield* sha256Of(reader.hashInput)
    if (!equalBytes(hash, reader.hash)) return yield* this.#parsed(line, yield* parseRow(row, this.#mayOmit))
    yield* this.#sealed(line, hash, reader.cosign, reader.isPurged, [])
  }

  /**
   * Verifies a record in the form of an API response, from a document without duplicate members (`duplicateMember`).
   */
  *record(line: number, record: JsonObject): SyncAsyncTask<void> {
    this.#begin(line)
    if (this.#placement !== undefined) yield* this.#parsed(line, yield* parsedRecord(record))
  }

  /**
   * Verifies a row that has its canonical text beside other columns.
   *
   * @param compare returns the differences between record and columns, each as a code, a colon and a meaning. The
   * record is not yet verified when it runs.
   */
  *cells(
    line: number,
    { canonical, hash, cosign }: { canonical: string; hash: string; cosign: string },
    compare: (record: JsonObject) => readonly string[],
  ): SyncAsyncTask<void> {
    this.#begin(line)
    if (this.#placement === undefined) return
    const { record, ...parsed } = yield* parseCanonical(canonical, hash, cosign)
    const problems = record === undefined ? [] : compare(record)
    yield* this.#parsed(line, { ...parsed, problems: [...parsed.problems, ...problems] })
  }

  /** Accepts a row without provenance if the manifest says that rows have none and covers the whole file. */
  plainRow(line: number): void {
    if (this.#placement === undefined) this.#begin(line)
    else {
      this.#withoutProvenance++
      this.unreadable(line, noProvenance)
    }
  }

  /** Records a row that cannot be read. */
  unreadable(line: number, problem: string): void {
    this.#begin(line)
    this.#check.findings.row({ line, recordId: null, hasFailed: false }, problem)
    this.#check.unplaced.add(line)
  }

  /** Records the result of a check made elsewhere, with its problems. */
  judged(line: number, recordId: string | null, problems: readonly string[]): void {
    this.#begin(line)
    const row = { line, recordId, hasFailed: false }
    for (const problem of problems) this.#check.findings.row(row, problem)
  }

  /** Records a problem of the file as a whole. */
  wrong(problem: string): void {
    this.#check.findings.whole(problem)
  }

  /**
   * Makes the checks that need the end of the file. Call it once, last.
   *
   * @param file undefined if the bytes read are not those of the file that the manifest describes
   */
  *finish(file: FileDigest | undefined): SyncAsyncTask<VerificationReport> {
    const { findings } = this.#check
    yield* this.#placement?.finish(this.#lastLine + 1) ?? nothing()
    const manifest = this.#manifest && (yield* this.#checkManifest(this.#manifest, file))
    return {
      verified: findings.isEmpty,
      checked: this.#rows,
      failed: findings.failedRows,
      withoutProvenance: this.#withoutProvenance,
      missing: findings.missing,
      failures: findings.list(),
      failureCount: findings.total,
      signatures: this.#check.signatures,
      manifest,
    }
  }

  #begin(line: number): void {
    this.#rows++
    this.#lastLine = line
  }

  /** Verifies a row whose text matches its stated hash: only the seal of that hash remains to be checked. */
  *#sealed(
    line: number,
    hash: Uint8Array,
    cosign: Uint8Array,
    isPurged: boolean,
    problems: string[],
  ): SyncAsyncTask<void> {
    const { canonical } = this.#reader
    findMembers(canonical, this.#members)
    const recordId = recordIdAt(canonical, this.#members.recordIdAt)
    if (!isSupportedVersion(canonical, this.#members.schemaVersionAt)) {
      problems.push('schema-version-unsupported: schema_version is not 1.0')
    }
    yield* this.#place({ line, recordId, hasFailed: false }, hash, cosign.slice(), isPurged, problems)
  }

  *#parsed(line: number, { recordId, hash, cosign, isPurged, isPlain, problems }: ParsedRow): SyncAsyncTask<void> {
    const row = { line, recordId, hasFailed: false }
    if (hash !== undefined && cosign !== undefined) return yield* this.#place(row, hash, cosign, isPurged, problems)
    if (isPlain) this.#withoutProvenance++
    for (const problem of problems) this.#check.findings.row(row, problem)
    this.#check.unplaced.add(line)
  }

  *#place(
    row: NamedRow,
    hash: Uint8Array,
    cosign: Uint8Array,
    isPurged: boolean,
    problems: readonly string[],
  ): SyncAsyncTask<void> {
    const salt = cosign.subarray(cosignBytes.salt, cosignBytes.signature)
    const leaf = yield* sha256Of(leafHashInput(salt, hash))
    const claim = { line: row.line, recordId: row.recordId, hasFailed: false, leaf, cosign }
    for (const problem of problems) this.#check.findings.row(claim, problem)
    if (isPurged && this.#manifest !== undefined) {
      this.#check.findings.row(claim, 'purged: is_purged is true, and an export leaves purged records out')
    }
    yield* this.#placement!.place(claim)
  }

  *#checkManifest(
    { head, members, seals }: PreparedManifest,
    file: FileDigest | undefined,
  ): SyncAsyncTask<NonNullable<VerificationReport['manifest']>> {
    const { findings } = this.#check
    const { problems, checkpoint } = yield* checkManifest(members, this.#keys, seals)
    for (const problem of problems) findings.whole(problem)
    const matches = file && this.#compareFile(head.file, file)
    if (file === undefined && seals === undefined) {
      findings.whole(
        'file-hash: rows without provenance can only be verified as the very file that the manifest is about',
      )
    }
    if (head.file.rows !== this.#rows) {
      findings.whole(`file-rows: the file has ${this.#rows} rows, and the manifest says ${head.file.rows}`)
    }
    if (head.counts.exported !== head.file.rows) {
      findings.whole(`manifest-counts: it counts ${head.counts.exported} records and ${head.file.rows} rows`)
    }
    // A seal without any row has an unknown number of records.
    findings.missing = Math.max(findings.missing, head.counts.exported - this.#rows)
    const range = this.#placement instanceof RangeSeals ? this.#placement : undefined
    if (range?.leftOut !== undefined && range.leftOut !== head.counts.left_out) {
      findings.whole(`manifest-counts: ${range.leftOut} records are left out, and it says ${head.counts.left_out}`)
    }
    const root = range && (yield* range.root(head))
    const isInLog = root !== undefined && checkpoint !== undefined && equalBytes(root, checkpoint.root)
    if (root !== undefined && checkpoint !== undefined && !isInLog) {
      findings.whole("log-root: the range's seals do not lead to the root in the checkpoint")
    } else if (range !== undefined && root === undefined) {
      findings.whole('log-root: the range cannot be compared with the checkpoint, because a seal in it is not known')
    }
    return {
      isSigned: !problems.some((problem) => problem.startsWith('manifest-')),
      isInLog,
      leftOut: range?.leftOut,
      file: matches === undefined ? 'not-compared' : matches ? 'matches' : 'differs',
    }
  }

  #compareFile(stated: { size_bytes: number; sha256: string }, file: FileDigest): boolean {
    const { findings } = this.#check
    if (stated.size_bytes !== file.sizeBytes) {
      findings.whole(`file-size: the file has ${file.sizeBytes} bytes, and the manifest says ${stated.size_bytes}`)
    }
    const isSame = toHex(file.sha256) === stated.sha256
    if (!isSame) findings.whole('file-hash: the file does not have the SHA-256 that the manifest states')
    return isSame && stated.size_bytes === file.sizeBytes
  }
}

function* nothing(): SyncAsyncTask<void> {}

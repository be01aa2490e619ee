import { bytesToUuid, utf8 } from './bytes.ts'
import { cosignBytes } from './cosign-bytes.ts'
import { ProvenanceError } from './errors.ts'
import { type ManifestHead, type SealEntry, sealEntryIn } from './export/manifest-check.ts'
import { type Claim, isProven, type SealCheck, SealRows } from './export/sealed-rows.ts'
import type { JsonValue } from './json.ts'
import { parseSealNote } from './log.ts'
import { LogRange } from './log-range.ts'
import type { SealIndex } from './seal-index.ts'
import type { SealPlacement } from './seal-placement.ts'
import { type SyncAsyncTask, sha256Of } from './sync-async-runner.ts'

/** Maximum number of seals whose rows may still come. It separates a slightly wrong order from missing rows. */
const openSealsMax = 256
/** Maximum number of seals that a row may be ahead of the last before the row counts as out of place. */
const seeAheadMax = 128
/** Maximum number of entries behind an unsettled one. */
const waitingMax = 65_536
/** Maximum number of rows far ahead before the rows between count as missing. */
const aheadRowsMax = 1024

/** A log entry whose seal is unsettled, or that follows an unsettled one. */
type Entry = {
  /** The index in the log. */
  readonly index: number
  readonly sealId: string
  readonly blinded: ReadonlyMap<number, Uint8Array>
  rows: SealRows
  /** The line that was read when the rows of this entry were expected. */
  readonly line: number
  isSettled: boolean
  logLeaf: Uint8Array | undefined
}

/** Matches rows with the seals of a manifest. Both come in log order; neither is ever held whole. */
export class RangeSeals implements SealPlacement {
  readonly #check: SealCheck
  readonly #index: SealIndex
  readonly #seals: Iterator<JsonValue, void>
  readonly #range: LogRange
  /** The log index of the next seal. */
  #logIndex: number
  readonly #from: number
  /** The position of the next seal among the seals with rows. */
  #ordinal = 0
  /** Open entries by ordinal, in order. */
  readonly #open = new Map<number, Entry>()
  /** Entries in log order, from the first unsettled one. */
  readonly #waiting: Entry[] = []
  readonly #ahead = new Map<number, Claim[]>()
  #aheadRows = 0
  #current: { ordinal: number; entry: Entry } | undefined
  #last = { ordinal: -1, leafIndex: -1, line: 0 }
  /** Number of leaves without a row, of the known seals; undefined if a note cannot be read. */
  leftOut: number | undefined = 0

  /** @param seals the elements of `seals` */
  constructor(check: SealCheck, head: ManifestHead, seals: Iterable<JsonValue>, index: SealIndex) {
    this.#check = check
    this.#index = index
    this.#seals = seals[Symbol.iterator]() as Iterator<JsonValue, void>
    this.#from = head.log.from
    this.#logIndex = head.log.from
    this.#range = new LogRange(head.log.from, head.log.left)
  }

  *place(claim: Claim): SyncAsyncTask<void> {
    const current = this.#current
    if (current?.entry.rows.isHeadOf(claim.cosign)) {
      this.#checkOrder(claim, current.ordinal)
      current.entry.rows.add(claim, true)
      if (current.entry.rows.isComplete) yield* this.#settle(current.ordinal, current.entry)
      return
    }
    const ordinal = this.#index.find(claim.cosign, cosignBytes.sealId)
    if (ordinal < 0) {
      const sealId = sealIdOf(claim)
      yield* this.#fail(claim, `not-in-range: its seal ${sealId} is not among those of the manifest that have rows`)
      return
    }
    if (ordinal >= this.#ordinal) {
      if (ordinal >= this.#ordinal + seeAheadMax) return yield* this.#keepAhead(claim, ordinal)
      while (this.#ordinal <= ordinal && (yield* this.#pull(claim.line)));
    }
    const entry = this.#open.get(ordinal)
    if (entry === undefined) {
      yield* this.#fail(
        claim,
        `duplicate: all rows of its seal ${sealIdOf(claim)} were read before, or it is far from them`,
      )
      return
    }
    this.#checkOrder(claim, ordinal)
    entry.rows.add(claim)
    this.#current = { ordinal, entry }
    if (entry.rows.isComplete) yield* this.#settle(ordinal, entry)
  }

  *finish(line: number): SyncAsyncTask<void> {
    while (yield* this.#pull(line));
    for (const [ordinal, entry] of this.#open) yield* this.#close(ordinal, entry)
  }

  /**
   * Returns the root of the log that the range leads to; undefined if a seal is unknown. Call it after {@link finish}.
   */
  root({ log }: ManifestHead): SyncAsyncTask<Uint8Array | undefined> {
    return this.#range.root(log.right, log.tree_size)
  }

  /** Takes the next seal of the manifest. Returns false at the end. */
  *#pull(line: number): SyncAsyncTask<boolean> {
    const { value, done } = this.#seals.next()
    if (done || value === undefined) return false
    const seal = sealEntryIn(value, this.#logIndex - this.#from)
    const index = this.#logIndex++
    if (seal.kind === 'rows') yield* this.#openEntry(seal, index, line)
    else yield* this.#passEntry(seal, index, line)
    return true
  }

  *#openEntry(seal: SealEntry & { kind: 'rows' }, index: number, line: number): SyncAsyncTask<void> {
    const { sealId, blinded } = seal
    const rows = new SealRows(blinded)
    const entry: Entry = { index, sealId, blinded, rows, line, isSettled: false, logLeaf: undefined }
    const ordinal = this.#ordinal++
    this.#open.set(ordinal, entry)
    this.#waiting.push(entry)
    if (this.leftOut !== undefined) this.leftOut += blinded.size
    for (const claim of this.#ahead.get(ordinal) ?? []) {
      this.#aheadRows--
      entry.rows.add(claim)
    }
    this.#ahead.delete(ordinal)
    if (entry.rows.isComplete) yield* this.#settle(ordinal, entry)
    const oldest = this.#open.entries().next()
    const isCrowded = this.#open.size > openSealsMax || this.#waiting.length > waitingMax
    if (isCrowded && !oldest.done) yield* this.#close(...oldest.value)
  }

  /** Handles a seal without any row in the file. */
  *#passEntry(seal: SealEntry & { kind: 'note' | 'lost' }, index: number, line: number): SyncAsyncTask<void> {
    let logLeaf: Uint8Array
    if (seal.kind === 'lost') {
      logLeaf = seal.leaf
      const problem = `seal-lost: the Hub's store no longer has the seal of log entry ${index}, nor its records`
      this.#check.findings.missingRow(line, problem)
    } else {
      logLeaf = yield* sha256Of(utf8(`\0${seal.note}`))
      const leaves = this.#leavesOf(seal.note)
      if (leaves === undefined) {
        this.#check.findings.whole(
          `manifest-seals: /seals/${index - this.#from} has a note that is not of a seal of its log`,
        )
      }
      if (this.leftOut !== undefined) this.leftOut = leaves && this.leftOut + leaves
    }
    const none = { sealId: '', blinded: new Map(), rows: new SealRows(undefined) }
    this.#waiting.push({ ...none, index, line, isSettled: true, logLeaf })
    yield* this.#appendSettled()
  }

  /**
   * Counts the leaves of a seal of this log. Its signature needs no check: the log's signed root covers the whole note.
   */
  #leavesOf(note: string): number | undefined {
    try {
      const { logName, leafCount } = parseSealNote(note)
      return logName === this.#check.logName ? leafCount : undefined
    } catch (error) {
      if (error instanceof ProvenanceError) return undefined
      throw error
    }
  }

  *#keepAhead(claim: Claim, ordinal: number): SyncAsyncTask<void> {
    this.#checkOrder(claim, ordinal)
    this.#ahead.set(ordinal, [...(this.#ahead.get(ordinal) ?? []), claim])
    this.#aheadRows++
    if (this.#aheadRows < aheadRowsMax) return
    const next = Math.min(...this.#ahead.keys())
    while (this.#ordinal <= next && (yield* this.#pull(claim.line)));
  }

  *#settle(ordinal: number, entry: Entry): SyncAsyncTask<void> {
    const { logLeaf, failed } = yield* entry.rows.settle(this.#check)
    if (logLeaf === undefined) {
      // These rows belong to another seal, despite their ids. The rows of this one may still come.
      entry.rows = new SealRows(entry.blinded)
      for (const { line } of failed) this.#check.unplaced.add(line)
      return
    }
    yield* this.#done(ordinal, entry, logLeaf)
  }

  /** Settles an entry that can no longer become complete. */
  *#close(ordinal: number, entry: Entry): SyncAsyncTask<void> {
    if (entry.rows.hasRows) yield* this.#settle(ordinal, entry)
    if (entry.isSettled) return
    if (this.#check.unplaced.take(entry.line - 64, entry.line + 64, 1) === 0) {
      const problem = `missing: no row of seal ${entry.sealId} (log entry ${entry.index}) is here`
      this.#check.findings.missingRow(entry.line, problem)
    }
    yield* this.#done(ordinal, entry, undefined)
  }

  *#done(ordinal: number, entry: Entry, logLeaf: Uint8Array | undefined): SyncAsyncTask<void> {
    entry.isSettled = true
    entry.logLeaf = logLeaf
    // While the entry waits for its place in the log, its rows are no longer needed.
    entry.rows = new SealRows(undefined)
    this.#open.delete(ordinal)
    if (this.#current?.entry === entry) this.#current = undefined
    yield* this.#appendSettled()
  }

  *#appendSettled(): SyncAsyncTask<void> {
    while (this.#waiting[0]?.isSettled) yield* this.#range.append(this.#waiting.shift()!.logLeaf)
  }

  #checkOrder(claim: Claim, ordinal: number): void {
    const leafIndex = claim.cosign[cosignBytes.leafIndex]!
    const { ordinal: lastOrdinal, leafIndex: lastIndex, line } = this.#last
    if (ordinal < lastOrdinal || (ordinal === lastOrdinal && leafIndex < lastIndex)) {
      this.#check.findings.row(claim, `out-of-order: it belongs before line ${line}`)
    }
    this.#last = { ordinal, leafIndex, line: claim.line }
  }

  *#fail(claim: Claim, reason: string): SyncAsyncTask<void> {
    this.#check.findings.row(claim, reason)
    // A row proven to be of another seal stands for no leaf of this export. A damaged row may.
    if (!(yield* isProven(claim, this.#check))) this.#check.unplaced.add(claim.line)
  }
}

function sealIdOf({ cosign }: Claim): string {
  return bytesToUuid(cosign.subarray(cosignBytes.sealId, cosignBytes.time))
}

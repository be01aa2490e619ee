import { concatBytes, equalBytes, toHex, utf8 } from '../bytes.ts'
import { readCosign } from '../cosign.ts'
import { cosignBytes, haveSameHead } from '../cosign-bytes.ts'
import type { Findings, NamedRow } from '../findings.ts'
import type { KeyRing } from '../keys.ts'
import { sealNote } from '../log.ts'
import { inclusionRoot } from '../merkle.ts'
import { sealNoteText } from '../seal.ts'
import { isSignedBy, type SyncAsyncTask, sha256Of } from '../sync-async-runner.ts'

/** A row, and the leaf that its cosignature claims. */
export type Claim = NamedRow & {
  /** 32 bytes. */
  readonly leaf: Uint8Array
  /** The binary cosignature, well-formed. */
  readonly cosign: Uint8Array
}

/** The inputs of a check of seals, and the collectors of its results. */
export type SealCheck = {
  readonly keys: KeyRing
  /** The only accepted log; undefined accepts any log with a known key. */
  readonly logName: string | undefined
  readonly findings: Findings
  /** Number of verified signatures. */
  signatures: number
  readonly unplaced: UnplacedRows
}

/** The result of settling a seal. */
export type Settled = {
  /** The leaf of the log's tree; undefined if no row proves the sealed content. */
  readonly logLeaf: Uint8Array | undefined
  /** Failed rows, which may belong to any seal. */
  readonly failed: readonly Claim[]
}

/** Collects the rows of one seal until every leaf is accounted for. */
export class SealRows {
  /** Leaves known to be absent from the file, by their index; undefined if unknown. */
  readonly #blinded: ReadonlyMap<number, Uint8Array> | undefined
  readonly #claims: (Claim | undefined)[] = []
  /** Further rows for a leaf that already has one or should have none. */
  readonly #others: Claim[] = []
  #count = 0
  #head: Uint8Array | undefined
  #isUniform = true

  constructor(blinded: ReadonlyMap<number, Uint8Array> | undefined) {
    this.#blinded = blinded
  }

  get hasRows(): boolean {
    return this.#head !== undefined
  }

  /** True if every leaf has its row or is known to be absent, by the leaf count of the first row. */
  get isComplete(): boolean {
    return this.#head !== undefined && this.#count + (this.#blinded?.size ?? 0) >= this.#head[cosignBytes.leafCount]!
  }

  /** Returns true if a cosignature states the same seal as the first row. */
  isHeadOf(cosign: Uint8Array): boolean {
    return this.#head !== undefined && haveSameHead(this.#head, cosign)
  }

  /** @param isSameHead the result of {@link isHeadOf}, if already known */
  add(claim: Claim, isSameHead = this.isHeadOf(claim.cosign)): void {
    if (this.#head === undefined) this.#head = claim.cosign
    else if (!isSameHead) this.#isUniform = false
    const index = claim.cosign[cosignBytes.leafIndex]!
    if (this.#claims[index] !== undefined || this.#blinded?.has(index)) this.#others.push(claim)
    else {
      this.#claims[index] = claim
      this.#count++
    }
  }

  *settle(check: SealCheck): SyncAsyncTask<Settled> {
    const head = this.#head
    if (head === undefined) return { logLeaf: undefined, failed: [] }
    if (this.isComplete && this.#isUniform && this.#others.length === 0) {
      const logLeaf = yield* this.#settleWhole(head, check)
      if (logLeaf !== undefined) return { logLeaf, failed: [] }
    }
    return yield* this.#settleEach(check)
  }

  /**
   * Computes the tree once for all rows. Returns undefined on any mismatch; the caller then checks each row by itself.
   */
  *#settleWhole(head: Uint8Array, check: SealCheck): SyncAsyncTask<Uint8Array | undefined> {
    const leaves: Uint8Array[] = []
    for (let index = 0; index < head[cosignBytes.leafCount]!; index++) {
      const claim = this.#claims[index]
      const blinded = this.#blinded?.get(index)
      if ((claim === undefined) === (blinded === undefined)) return undefined
      leaves.push(claim?.leaf ?? blinded!)
    }
    const levels = yield* levelsOf(leaves)
    for (let index = 0; index < leaves.length; index++) {
      const claim = this.#claims[index]
      if (claim !== undefined && !isPathIn(levels, index, claim.cosign)) return undefined
    }
    const statement = statementOf(head, levels.at(-1)![0]!, check)
    if (!('noteText' in statement)) return undefined
    check.signatures++
    if (!(yield* isSignedBy(statement.publicKey, utf8(statement.noteText), statement.signature))) return undefined
    return yield* sha256Of(statement.logLeafInput)
  }

  *#settleEach(check: SealCheck): SyncAsyncTask<Settled> {
    const verified: (Claim | undefined)[] = []
    const failed: Claim[] = []
    const memo = new Map<string, boolean>()
    let first: { claim: Claim; root: Uint8Array; logLeaf: Uint8Array } | undefined
    for (const claim of [...this.#claims, ...this.#others]) {
      if (claim === undefined) continue
      const index = claim.cosign[cosignBytes.leafIndex]!
      const proof = yield* proofOf(claim, check, memo)
      const earlier = verified[index]
      let problem = 'problem' in proof ? proof.problem : undefined
      if (problem !== undefined) failed.push(claim)
      else if (earlier !== undefined) problem = `duplicate: the same record as line ${earlier.line}`
      else if ('root' in proof) {
        first ??= { claim, ...proof }
        verified[index] = claim
        if (!equalBytes(first.logLeaf, proof.logLeaf)) {
          problem = `seal-conflict: another seal of the same id as that of line ${first.claim.line}`
        } else if (this.#blinded?.has(index) === true) {
          problem = 'not-exported: the manifest has its leaf among those that are not in the file'
        }
      }
      if (problem !== undefined) check.findings.row(claim, problem)
    }
    if (first === undefined) return { logLeaf: undefined, failed }
    const rest = this.#blinded && this.#findMissing(first.claim.cosign, verified, failed, this.#blinded, check)
    if (rest?.length === 0 && failed.length === 0) yield* this.#checkBlinded(first, verified, this.#blinded!, check)
    return { logLeaf: first.logLeaf, failed: [] }
  }

  /** Reports leaves without a row, unless a failed row may be theirs. Returns all leaves without a verified row. */
  #findMissing(
    head: Uint8Array,
    verified: readonly (Claim | undefined)[],
    failed: readonly Claim[],
    blinded: ReadonlyMap<number, Uint8Array>,
    { findings, unplaced }: SealCheck,
  ): number[] {
    const leafCount = head[cosignBytes.leafCount]!
    const uncovered: number[] = []
    for (let i = 0; i < leafCount; i++) if (verified[i] === undefined && !blinded.has(i)) uncovered.push(i)
    const claimed = new Set(failed.map(({ cosign }) => cosign[cosignBytes.leafIndex]!))
    const open = uncovered.filter((index) => !claimed.has(index))
    let spare = failed.length - (uncovered.length - open.length)
    if (open.length > spare) {
      const lines = [...verified, ...failed].flatMap((claim) => (claim === undefined ? [] : [claim.line]))
      spare += unplaced.take(Math.min(...lines) - leafCount, Math.max(...lines) + leafCount, open.length - spare)
    }
    for (const index of open.slice(Math.max(0, spare))) {
      const next = verified.find((claim, at) => at > index && claim !== undefined)
      const last = verified.findLast((claim, at) => at < index && claim !== undefined)
      const seal = `leaf ${index + 1} of the ${leafCount} of seal ${readCosign(head).sealId}`
      findings.missingRow(next?.line ?? last!.line + 1, `missing: the row of ${seal} is not here`)
    }
    return uncovered
  }

  *#checkBlinded(
    first: { claim: Claim; root: Uint8Array },
    verified: readonly (Claim | undefined)[],
    blinded: ReadonlyMap<number, Uint8Array>,
    { findings }: SealCheck,
  ): SyncAsyncTask<void> {
    const { sealId, leafCount } = readCosign(first.claim.cosign)
    const leaves = Array.from({ length: leafCount }, (_, i) => verified[i]?.leaf ?? blinded.get(i)!)
    const isWhole = [...blinded.keys()].every((index) => index < leafCount)
    const root = (yield* levelsOf(leaves)).at(-1)![0]!
    if (isWhole && equalBytes(root, first.root)) return
    findings.whole(`blinded-leaves: the leaves that the manifest gives for seal ${sealId} do not lead to its root`)
  }
}

type Proof = { readonly root: Uint8Array; readonly logLeaf: Uint8Array } | { readonly problem: string }

function* proofOf(claim: Claim, check: SealCheck, memo: Map<string, boolean>): SyncAsyncTask<Proof> {
  const { leafIndex, leafCount, path, sealId } = readCosign(claim.cosign)
  const root = yield* inclusionRoot(leafIndex, leafCount, claim.leaf, path)
  const statement = statementOf(claim.cosign, root, check)
  if ('problem' in statement) return statement
  const { publicKey, noteText, signature, logLeafInput, keyId } = statement
  const memoKey = `${toHex(signature)} ${noteText}`
  let isSigned = memo.get(memoKey)
  if (isSigned === undefined) {
    check.signatures++
    isSigned = yield* isSignedBy(publicKey, utf8(noteText), signature)
    memo.set(memoKey, isSigned)
  }
  if (!isSigned) return { problem: `signature-invalid: key ${keyId} did not sign this hash in seal ${sealId}` }
  return { root, logLeaf: yield* sha256Of(logLeafInput) }
}

/** Returns true if a row's own cosignature proves it, in any log. */
export function* isProven(claim: Claim, check: SealCheck): SyncAsyncTask<boolean> {
  return 'root' in (yield* proofOf(claim, { ...check, logName: undefined }, new Map()))
}

type SignedStatement = {
  readonly keyId: string
  readonly publicKey: Uint8Array
  readonly noteText: string
  readonly signature: Uint8Array
  readonly logLeafInput: Uint8Array
}

const logLeafPrefix = Uint8Array.of(0)

function statementOf(head: Uint8Array, root: Uint8Array, check: SealCheck): SignedStatement | { problem: string } {
  const { keyId, sealId, leafCount, timeMicros, signature } = readCosign(head)
  const key = check.keys.get(keyId)
  if (key === undefined) return { problem: `key-unknown: key ${keyId} is not among the trusted ones` }
  if (check.logName !== undefined && key.name !== check.logName) {
    return { problem: `log-foreign: it was sealed in the log ${key.name}, and the export is of ${check.logName}` }
  }
  const statement = { logName: key.name, sealId, leafCount, timeMicros, root }
  return {
    keyId,
    publicKey: key.publicKey,
    noteText: sealNoteText(statement),
    signature,
    logLeafInput: concatBytes(logLeafPrefix, utf8(sealNote(statement, keyId, signature))),
  }
}

// Reused: a hash function never retains its argument.
const nodeScratch = Uint8Array.of(1, ...new Uint8Array(64))

/** Returns all levels of the tree over one leaf or more, leaves first. */
function* levelsOf(leaves: readonly Uint8Array[]): SyncAsyncTask<Uint8Array[][]> {
  const levels = [[...leaves]]
  let level = levels[0]!
  while (level.length > 1) {
    const parents: Uint8Array[] = []
    for (let i = 0; i + 1 < level.length; i += 2) {
      nodeScratch.set(level[i]!, 1)
      nodeScratch.set(level[i + 1]!, 33)
      parents.push(yield* sha256Of(nodeScratch))
    }
    if (level.length % 2 === 1) parents.push(level[level.length - 1]!)
    levels.push(parents)
    level = parents
  }
  return levels
}

/** Returns true if the path of a cosignature is the one in the tree. */
function isPathIn(levels: readonly (readonly Uint8Array[])[], leafIndex: number, cosign: Uint8Array): boolean {
  let at: number = cosignBytes.path
  let index = leafIndex
  for (const level of levels) {
    const sibling = level[index ^ 1]
    if (sibling !== undefined) {
      for (let i = 0; i < 32; i++) if (cosign[at + i] !== sibling[i]) return false
      at += 32
    }
    index >>= 1
  }
  return at === cosign.length
}

/** Maximum number of stored lines: enough to distinguish damaged rows from missing ones if few are damaged. */
const linesMax = 10_000

/** Lines of failed rows whose leaf is unknown. A nearby leaf without a row may be theirs. */
export class UnplacedRows {
  readonly #lines = new Set<number>()

  add(line: number): void {
    if (this.#lines.size < linesMax) this.#lines.add(line)
  }

  /** Takes up to `count` lines within the range. Returns the number taken. */
  take(fromLine: number, toLine: number, count: number): number {
    let taken = 0
    for (const line of this.#lines) {
      if (taken === count) break
      if (line < fromLine || line > toLine) continue
      this.#lines.delete(line)
      taken++
    }
    return taken
  }
}

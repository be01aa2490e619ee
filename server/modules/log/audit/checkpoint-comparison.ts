import { type KeyRing, parseNote, verifyNoteSync } from '../../../../provenance/index.ts'
import { logCrypto } from '../log-crypto.ts'
import type { CheckpointSource, FoundCheckpoint } from './checkpoint-source.ts'
import type { Findings } from './findings.ts'

/**
 * Compares the checkpoints of one file with a tree that is being built. Most are in the order of the tree's growth, so
 * each is compared when the tree reaches its size. The few late ones are recomputed.
 */
export class CheckpointComparison {
  readonly #source: CheckpointSource
  readonly #logName: string
  readonly #keys: KeyRing
  readonly #findings: Findings
  readonly #found: AsyncGenerator<FoundCheckpoint>
  #next: FoundCheckpoint | undefined
  #count = 0

  private constructor(source: CheckpointSource, logName: string, keys: KeyRing, findings: Findings) {
    this.#source = source
    this.#logName = logName
    this.#keys = keys
    this.#findings = findings
    this.#found = source.read()
  }

  /** @param keys the trusted keys of the log */
  static async begin(source: CheckpointSource, logName: string, keys: KeyRing, findings: Findings) {
    const comparison = new CheckpointComparison(source, logName, keys, findings)
    await comparison.#advance()
    return comparison
  }

  /** The number of checkpoints compared so far. */
  get count(): number {
    return this.#count
  }

  /**
   * Compares the next checkpoints. Must be called with each size of the tree, from 0 on.
   *
   * @param rootAt computes the root of a smaller tree
   */
  async reached(size: number, root: () => Uint8Array, rootAt: (size: number) => Promise<Uint8Array>): Promise<void> {
    while (this.#next && this.#next.treeSize <= size) {
      const expected = this.#next.treeSize === size ? root() : await rootAt(this.#next.treeSize)
      this.#compare(this.#next, expected)
      await this.#advance()
    }
  }

  /** Compares the rest: checkpoints of a larger tree than the log's, and those behind them in the file. */
  async end(size: number, rootAt: (size: number) => Promise<Uint8Array>): Promise<void> {
    for (; this.#next; await this.#advance()) {
      const expected = this.#next.treeSize <= size ? await rootAt(this.#next.treeSize) : undefined
      this.#compare(this.#next, expected, size)
    }
  }

  #compare(found: FoundCheckpoint, root: Uint8Array | undefined, size?: number): void {
    this.#count += 1
    const at = `${this.#source.file}:${found.line}`
    if (!verifyNoteSync(parseNote(found.note), [...this.#keys.values()], logCrypto)) {
      this.#findings.add(at, 'no trusted key of the log signed this checkpoint')
    } else if (root === undefined) {
      this.#findings.add(
        at,
        `the log had ${found.treeSize} entries then, and has ${size} now: it was restored to an earlier state`,
      )
    } else if (Buffer.compare(root, found.root) !== 0) {
      this.#findings.add(
        at,
        `the first ${found.treeSize} entries of the log are not those of that time: it was rewritten`,
      )
    }
  }

  async #advance(): Promise<void> {
    do {
      const { value, done } = await this.#found.next()
      this.#next = done ? undefined : value
    } while (this.#next && this.#next.logName !== this.#logName)
  }
}

import { checkEarlierCheckpoint } from '../../../../provenance/log-verifier.ts'
import { nodeCrypto } from '../../../records/node-crypto.ts'
import type { TrustedLog } from './audit-types.ts'
import type { CheckpointSource, FoundCheckpoint } from './checkpoint-source.ts'

interface ComparisonParts {
  source: CheckpointSource
  log: TrustedLog
  /** Computes the root of the log at a smaller size; undefined if the stored tree is damaged. */
  rootAt: (size: number) => Promise<Uint8Array | undefined>
  fail: (at: string, reason: string) => void
}

/**
 * Compares the checkpoints of one file with a tree that is being built. Most are in the order of the tree's growth, so
 * each is compared when the tree reaches its size. The few late ones are recomputed.
 */
export class CheckpointComparison {
  readonly #parts: ComparisonParts
  readonly #found: AsyncGenerator<FoundCheckpoint>
  #next: FoundCheckpoint | undefined
  #count = 0

  private constructor(parts: ComparisonParts) {
    this.#parts = parts
    this.#found = parts.source.read()
  }

  static async begin(parts: ComparisonParts): Promise<CheckpointComparison> {
    const comparison = new CheckpointComparison(parts)
    await comparison.#advance()
    return comparison
  }

  /** The number of checkpoints compared so far. */
  get count(): number {
    return this.#count
  }

  /** Compares the next checkpoints. Must be called with each size of the tree, from 0 on. */
  async reached(size: number, root: () => Uint8Array): Promise<void> {
    for (; this.#next && this.#next.treeSize <= size; await this.#advance()) {
      this.#compare(this.#next, this.#next.treeSize === size ? root() : await this.#parts.rootAt(this.#next.treeSize))
    }
  }

  /** Compares the rest: checkpoints of a larger tree than the log's, and those behind them in the file. */
  async end(size: number): Promise<void> {
    for (; this.#next; await this.#advance()) {
      const isBeyond = this.#next.treeSize > size
      this.#compare(
        this.#next,
        isBeyond ? undefined : await this.#parts.rootAt(this.#next.treeSize),
        isBeyond ? size : undefined,
      )
    }
  }

  /** @param sizeNow the size of the log if it is smaller than that of the checkpoint */
  #compare({ line, note, treeSize }: FoundCheckpoint, root: Uint8Array | undefined, sizeNow?: number): void {
    this.#count += 1
    const { source, log, fail } = this.#parts
    const at = `${source.file}:${line}`
    const keys = [...log.trust.keys.values()]
    const problem = checkEarlierCheckpoint(note, root, { logName: log.logName, keys }, nodeCrypto)
    if (problem === 'unsigned') fail(at, 'no trusted key of the log signed this checkpoint')
    else if (problem === 'other_history' && sizeNow !== undefined) {
      fail(at, `the log had ${treeSize} entries then, but has ${sizeNow} now: it was restored to an earlier state`)
    } else if (problem === 'other_history') {
      fail(at, `the first ${treeSize} entries of the log differ from those of that time: it was rewritten`)
    }
  }

  async #advance(): Promise<void> {
    do {
      const { value, done } = await this.#found.next()
      this.#next = done ? undefined : value
    } while (this.#next && this.#next.logName !== this.#parts.log.logName)
  }
}

import { ProvenanceError, parseCheckpoint } from '../../../../provenance/index.ts'
import type { StoredCheckpoint } from './checkpoint-types.ts'

/** One line of a file of checkpoints, newline and all. */
export function checkpointLine({ kept_at, log_name, tree_size, checkpoint }: StoredCheckpoint): string {
  return `${JSON.stringify({ kept_at, log_name, tree_size, checkpoint })}\n`
}

/**
 * Reads a line, and what stands in it against the note in it. Signatures are not verified.
 *
 * @returns undefined for what is no such line, such as one that a crash has cut off
 */
export function readCheckpointLine(line: string): StoredCheckpoint | undefined {
  try {
    const found: Partial<StoredCheckpoint> | null = JSON.parse(line)
    if (typeof found?.checkpoint !== 'string' || typeof found.kept_at !== 'string') return undefined
    const { logName, treeSize } = parseCheckpoint(found.checkpoint)
    if (found.log_name !== logName || found.tree_size !== treeSize) return undefined
    return { kept_at: found.kept_at, log_name: logName, tree_size: treeSize, checkpoint: found.checkpoint }
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof ProvenanceError) return undefined
    throw error
  }
}

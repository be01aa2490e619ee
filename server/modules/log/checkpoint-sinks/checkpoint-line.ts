import { ProvenanceError, parseCheckpoint } from '../../../../provenance/index.ts'
import type { StoredCheckpoint } from './checkpoint-types.ts'

/** Returns one line of a file of checkpoints, including the newline. */
export function checkpointLine({ kept_at, log_name, tree_size, checkpoint }: StoredCheckpoint): string {
  return `${JSON.stringify({ kept_at, log_name, tree_size, checkpoint })}\n`
}

/**
 * Parses a line, and compares its members with its note. Does not verify signatures.
 *
 * @returns undefined for an invalid line, such as one that a crash has cut off
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

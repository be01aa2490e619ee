import { fromBase64 } from './bytes.ts'
import { ProvenanceError } from './errors.ts'
import { parseNote } from './note.ts'
import { type SealStatement, sealNoteText, sealSizeMax } from './seal.ts'

const pattern =
  /^orghub\/seal\/v1\nlog (\S+)\nseal ([0-9a-f-]{36})\ntime (\d{1,16})\nleaves (\d{1,2})\nroot (\S{44})\n$/

/**
 * Reads the signed note of a seal without verifying its signatures (`verifyNote` does). Throws `note-malformed` for
 * anything else, and `encoding-malformed` for a root that is not base64.
 */
export function parseSealNote(note: string): SealStatement {
  const { text } = parseNote(note)
  const [, logName = '', sealId = '', time = '', leaves = '', root = ''] = pattern.exec(text) ?? []
  const statement = { logName, sealId, timeMicros: Number(time), leafCount: Number(leaves), root: fromBase64(root) }
  const { leafCount, timeMicros } = statement
  const isSound = leafCount >= 1 && leafCount <= sealSizeMax && Number.isSafeInteger(timeMicros)
  // Each statement has one text.
  if (!isSound || statement.root.length !== 32 || sealNoteText(statement) !== text) {
    throw new ProvenanceError('note-malformed', 'the note is not that of a seal')
  }
  return statement
}

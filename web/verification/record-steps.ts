import { toBase64, toHex, utf8 } from '../../provenance/bytes.ts'
import {
  type AsyncCrypto,
  type Cosign,
  canonicalize,
  decodeCosign,
  type FailureCode,
  itemOfResponse,
  type JsonObject,
  ProvenanceError,
  sealNoteText,
  signedNote,
  unhashedMembers,
  verifyRecord,
} from '../../provenance/index.ts'
import { inclusionRoot } from '../../provenance/merkle.ts'
import { formatRecordHash, parseRecordHash, recordHashInput } from '../../provenance/record-hash.ts'
import { leafHashInput } from '../../provenance/seal.ts'
import { runAsync } from '../../provenance/sync-async-runner.ts'
import type { LogKeys } from './log-keys.ts'
import { isPlain } from './plain-record.ts'
import type { Step } from './steps.ts'

export interface AskedRecord {
  recordId: string
  tenant: string
}

/** The result of a record's checks, with the signed note of its seal, if any, for the checks of the log. */
export interface RecordFindings {
  steps: readonly Step[]
  sealNote: string | undefined
  /** The time of the seal, by the clock of the Hub; undefined unless the signature is valid. */
  sealedAtMs: number | undefined
}

/** Returns the canonical text of a record in an API response; undefined if it has none. */
export function canonicalText(record: JsonObject): string | undefined {
  try {
    return canonicalize(
      Object.fromEntries(Object.entries(record).filter(([member]) => !unhashedMembers.includes(member))),
    )
  } catch (error) {
    if (error instanceof ProvenanceError) return undefined
    throw error
  }
}

/**
 * Verifies a record with only its keys: docs/provenance.md, section 6. The shared core computes the verdicts; the
 * values beside them are computed once more for display.
 *
 * @param keys undefined if they could not be loaded
 */
export async function recordSteps(
  record: JsonObject,
  asked: AskedRecord,
  keys: LogKeys | undefined,
  crypto: AsyncCrypto,
): Promise<RecordFindings> {
  const item = itemOfResponse(record)
  const { failures } = await verifyRecord({ ...item, keys: keys?.trusted ?? new Map() }, crypto)
  const problem = (check: (typeof failures)[number]['check']) => failures.find((failure) => failure.check === check)
  const cosignCode = problem('provenance_cosign_valid')?.code
  const cosign = attempt(() => decodeCosign(item.cosign))
  const storedHash = attempt(() => parseRecordHash(item.hash))
  const leaf = cosign && storedHash && (await crypto.sha256(leafHashInput(cosign.salt, storedHash)))
  const root = leaf && (await runAsync(inclusionRoot(cosign.leafIndex, cosign.leafCount, leaf, cosign.path), crypto))
  const isSigned = cosignCode === undefined
  const noteText =
    keys && root && sealNoteText({ ...cosign, logName: keys.trusted.get(cosign.keyId)?.name ?? keys.logName, root })

  const steps: Step[] = [
    rightRecord(record, asked, problem('schema_version_supported')?.code),
    await hashStep(record, item.hash, problem('provenance_hash_matches')?.code, crypto),
    {
      name: 'leaf',
      state: leaf ? 'passed' : 'failed',
      found: leaf
        ? `The cosignature can be read. With its salt the stored hash makes leaf ${cosign.leafIndex + 1} of ${cosign.leafCount} of the seal.`
        : `The cosignature or the hash cannot be read: ${problem('provenance_cosign_valid')?.detail ?? 'it is missing'}.`,
      values: leaf && [
        { label: 'Salt', value: toHex(cosign.salt) },
        { label: 'Leaf', value: toHex(leaf) },
      ],
    },
    {
      name: 'path',
      state: root ? (isSigned ? 'passed' : 'unknown') : 'unknown',
      found: !root
        ? 'Without a leaf there is nothing to follow.'
        : isSigned
          ? `${count(cosign.path.length, 'hash', 'hashes')} beside it lead from the leaf to the root that was signed.`
          : `${count(cosign.path.length, 'hash', 'hashes')} beside it lead to a root, of which the signature does not tell.`,
      values: root && [
        ...cosign.path.map((hash, index) => ({ label: `Hash ${index + 1}`, value: toHex(hash) })),
        { label: 'Root', value: toHex(root) },
      ],
    },
    keyStep(keys),
    signatureStep(cosign, cosignCode, keys, noteText),
  ]
  return {
    steps,
    sealNote: noteText && signedNote(noteText, keys.logName, cosign!.keyId, cosign!.signature),
    sealedAtMs: isSigned && cosign ? cosign.timeMicros / 1000 : undefined,
  }
}

function rightRecord(record: JsonObject, { recordId, tenant }: AskedRecord, version: FailureCode | undefined): Step {
  const values = [
    { label: 'Asked for', value: `${recordId} of ${tenant}` },
    { label: 'Answered', value: `${String(record.record_id)} of ${String(record.tenant_id)}` },
  ]
  const isIt = record.record_id === recordId && record.tenant_id === tenant
  const isWhole = isPlain(record)
  if (isIt && isWhole && version === undefined)
    return { name: 'record', state: 'passed', found: 'The answer is of this record and this tenant.', values }
  return {
    name: 'record',
    state: 'failed',
    found: !isWhole
      ? 'The answer has members that are not its own, and that nothing seals.'
      : isIt
        ? `Its form, ${JSON.stringify(record.schema_version)}, is none that this page knows.`
        : 'The answer is of another record than the one that was asked for.',
    values,
  }
}

async function hashStep(
  record: JsonObject,
  stored: string,
  code: FailureCode | undefined,
  crypto: AsyncCrypto,
): Promise<Step> {
  const text = canonicalText(record)
  if (code === 'content-unavailable') {
    return {
      name: 'hash',
      state: 'unknown',
      found:
        'The content is gone: the key of the tenant was destroyed, as the Hub says. Without it the hash cannot be computed; ' +
        'the steps below are over the stored hash.',
      values: [{ label: 'Stored', value: stored || 'none' }],
    }
  }
  const computed = text === undefined ? undefined : formatRecordHash(await crypto.sha256(recordHashInput(text)))
  return {
    name: 'hash',
    state: code === undefined ? 'passed' : 'failed',
    found:
      code === undefined
        ? `Written canonically (RFC 8785) the record has ${utf8(text ?? '').length.toLocaleString()} bytes, and exactly the stored hash.`
        : computed === undefined
          ? 'The record has no canonical text, so it cannot be the one that was sealed.'
          : 'The record does not have the stored hash: record or hash was changed.',
    values: [
      { label: 'Computed here', value: computed ?? 'none' },
      { label: 'Stored', value: stored || 'none' },
    ],
  }
}

/** Returns the step for the keys of the log; `undefined` keys could not be loaded. */
export function keyStep(keys: LogKeys | undefined): Step {
  if (!keys) return { name: 'keys', state: 'unknown', found: 'The published keys could not be read.' }
  const values = [
    { label: 'Log', value: keys.logName },
    ...[...keys.trusted.keys()].map((keyId) => ({ label: 'Trusted key', value: keyId })),
    ...[...keys.distrusted.keys()].map((keyId) => ({ label: 'Not trusted', value: keyId })),
  ]
  if (keys.problems.length > 0) return { name: 'keys', state: 'failed', found: keys.problems.join(' '), values }
  const known = keys.kept
    ? keys.firstUse
      ? 'This browser sees the keys of this log for the first time, takes the first one on trust, and keeps it.'
      : `The keys are those this browser has known since ${keys.pinnedAt?.slice(0, 10)}, or were introduced by one of them.`
    : 'This browser keeps nothing, so it takes the first key on trust at every visit.'
  return { name: 'keys', state: 'passed', found: known, values }
}

function signatureStep(
  cosign: Cosign | undefined,
  code: FailureCode | undefined,
  keys: LogKeys | undefined,
  noteText: string | undefined,
): Step {
  const base = { name: 'signature' } as const
  if (!cosign || (keys && !noteText))
    return { ...base, state: 'unknown', found: 'There is no signature that could be checked.' }
  if (!keys) return { ...base, state: 'unknown', found: 'There are no keys to check the signature with.' }
  const key = keys.trusted.get(cosign.keyId)
  const values = [
    { label: 'Key', value: cosign.keyId },
    { label: 'Key since', value: key?.createdAt ?? 'unknown' },
    { label: 'Seal', value: cosign.sealId },
    { label: 'Sealed at', value: new Date(cosign.timeMicros / 1000).toISOString() },
    { label: 'Signed text', value: noteText ?? 'none' },
    { label: 'Signature', value: toBase64(cosign.signature) },
  ]
  if (code === undefined)
    return { ...base, state: 'passed', found: 'A trusted key of this log signed the seal with this root.', values }
  if (code !== 'key-unknown')
    return { ...base, state: 'failed', found: 'The key that it names did not sign this record in this seal.', values }
  const reason = keys.distrusted.get(cosign.keyId)
  const found =
    reason === undefined
      ? `No trusted key of this log is ${cosign.keyId}: it is of another log, or of nobody.`
      : `It is signed with key ${cosign.keyId}, which is published and not trusted: ${reason}.`
  return { ...base, state: 'failed', found, values }
}

function count(number: number, one: string, many: string): string {
  return number === 1 ? `1 ${one}` : `${number} ${many}`
}

/** Returns undefined for malformed input. */
function attempt<Value>(read: () => Value): Value | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof ProvenanceError) return undefined
    throw error
  }
}

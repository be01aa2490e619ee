import { equalBytes, utf8 } from './bytes.ts'
import { type Checkpoint, parseCheckpoint } from './checkpoint.ts'
import { ProvenanceError } from './errors.ts'
import type { KeyRing } from './keys.ts'
import { logLeafHash, openSeal } from './log.ts'
import { type NoteKey, parseNote, verifyNoteSync } from './note.ts'
import type { Seal } from './seal.ts'
import type { SyncCrypto } from './sync-async-runner.ts'

/**
 * The checks of a stored log: of its seals, its pages, and its signed states. The integrity scan and `hub log audit`
 * gather the evidence, and report each problem in their own form.
 */

/** A record or tombstone that names a leaf of a seal. */
export type LeafClaim = { readonly seal_id: string; readonly leaf_index: number }

/** Everything that is stored under consecutive entries of a log. */
export type PageEvidence<Entry, Claim> = {
  readonly logName: string
  /** The range of log indexes; `to` is exclusive. */
  readonly from: number
  readonly to: number
  readonly entries: readonly Entry[]
  /** Returns a leaf of the stored tree; undefined if it cannot be read. */
  readonly logLeafOf: (logIndex: number) => Uint8Array | undefined
  /** Returns a stored seal: `unreadable` if its time is impossible, undefined if it is missing. */
  readonly sealOf: (sealId: string) => Seal | 'unreadable' | undefined
  readonly claims: readonly Claim[]
  /** The trusted keys, and the reasons against others. Without them, the signatures of seals are not checked. */
  readonly trust?: { readonly keys: KeyRing; readonly distrusted: ReadonlyMap<string, string> }
}

/** A failed check of a seal: its name among the findings of the integrity scan, and a description in prose. */
export type SealProblem = {
  readonly check: 'seal_present' | 'seal_signed' | 'seal_in_log'
  readonly reason: string
}

export type CheckedEntry<Entry, Claim> = {
  readonly entry: Entry
  readonly problems: readonly SealProblem[]
  /** The leaf in the log that follows from the stored seal. Undefined, like `leaves`, without a readable seal. */
  readonly logLeaf: Uint8Array | undefined
  /** The leaves of the seal. */
  readonly leaves: readonly Uint8Array[] | undefined
  /** Indexes of leaves that no record or tombstone claims. */
  readonly unclaimed: readonly number[]
  /** The claims on each leaf that has several. */
  readonly contested: readonly (readonly Claim[])[]
  /** Claims on leaves that the seal does not have. */
  readonly misplaced: readonly Claim[]
}

export type CheckedPage<Entry, Claim> = {
  /** Log indexes without an entry: the first ones, and the number of all. */
  readonly missing: readonly number[]
  readonly missingCount: number
  readonly entries: readonly CheckedEntry<Entry, Claim>[]
}

/** Maximum length of {@link CheckedPage.missing}. */
const missingMax = 256

/**
 * Checks that the entries of a page have no gap, that the seal of each is the one in the log, and that exactly one
 * record or tombstone accounts for each leaf. Does not check the records and tombstones themselves.
 */
export function checkPage<
  Entry extends { readonly logIndex: number; readonly sealId: string },
  Claim extends LeafClaim,
>(page: PageEvidence<Entry, Claim>, crypto: SyncCrypto): CheckedPage<Entry, Claim> {
  const { from, to, entries } = page
  const present = new Set(entries.map(({ logIndex }) => logIndex))
  const missingCount = Math.max(0, to - from) - present.size
  const missing: number[] = []
  for (let at = from; missing.length < Math.min(missingCount, missingMax); at++) if (!present.has(at)) missing.push(at)
  const claims = Map.groupBy(page.claims, (claim) => claim.seal_id)
  return {
    missing,
    missingCount,
    entries: entries.map((entry) => checkEntry(page, entry, claims.get(entry.sealId) ?? [], crypto)),
  }
}

function checkEntry<Entry extends { readonly logIndex: number; readonly sealId: string }, Claim extends LeafClaim>(
  page: PageEvidence<Entry, Claim>,
  entry: Entry,
  claims: readonly Claim[],
  crypto: SyncCrypto,
): CheckedEntry<Entry, Claim> {
  const { logIndex, sealId } = entry
  const failed = (check: SealProblem['check'], reason: string): CheckedEntry<Entry, Claim> => ({
    ...{ entry, problems: [{ check, reason }], logLeaf: undefined, leaves: undefined },
    ...{ unclaimed: [], contested: [], misplaced: [] },
  })
  const seal = page.sealOf(sealId)
  if (seal === undefined) return failed('seal_present', `it is entry ${logIndex} of the log, and is missing`)
  if (seal === 'unreadable') return failed('seal_in_log', 'its time cannot be read')
  try {
    const { leaves, text, note } = openSeal(seal, page.logName, crypto.sha256)
    const logLeaf = logLeafHash(note, crypto.sha256)
    const stored = page.logLeafOf(logIndex)
    const problems: SealProblem[] = []
    const distrust = page.trust && signatureProblem(seal, text, page.trust, crypto)
    if (distrust !== undefined) problems.push({ check: 'seal_signed', reason: distrust })
    if (stored !== undefined && !equalBytes(stored, logLeaf)) {
      const reason = `it is not the seal that entry ${logIndex} of the log had: it was changed or replaced`
      problems.push({ check: 'seal_in_log', reason })
    }
    return { entry, problems, logLeaf, leaves, ...accountFor(leaves.length, claims) }
  } catch (error) {
    if (error instanceof ProvenanceError) return failed('seal_in_log', error.message)
    throw error
  }
}

function signatureProblem(
  { keyId, signature }: Seal,
  text: string,
  { keys, distrusted }: NonNullable<PageEvidence<never, never>['trust']>,
  crypto: SyncCrypto,
): string | undefined {
  const key = keys.get(keyId)
  if (key)
    return crypto.verifyEd25519(key.publicKey, utf8(text), signature) ? undefined : 'its signature does not verify'
  const why = distrusted.has(keyId) ? `: ${distrusted.get(keyId)}` : ''
  return `no trusted key of the log has the id ${keyId}${why}`
}

function accountFor<Claim extends LeafClaim>(leafCount: number, claims: readonly Claim[]) {
  const claimants = Array.from({ length: leafCount }, (): Claim[] => [])
  const misplaced: Claim[] = []
  for (const claim of claims) (claimants[claim.leaf_index] ?? misplaced).push(claim)
  return {
    unclaimed: claimants.flatMap((some, leaf) => (some.length === 0 ? [leaf] : [])),
    contested: claimants.filter((some) => some.length > 1),
    misplaced,
  }
}

/** A stored state of a log, and the checkpoint that signs it. */
export type StoredHead = { readonly treeSize: number; readonly root: Uint8Array; readonly checkpoint: string }

export type HeadProblem = {
  readonly kind: 'unreadable' | 'contradicted' | 'unsigned'
  readonly reason: string
}

/** Checks that the checkpoint of a head states the same, and that one of the keys signed it. */
export function checkHead(
  head: StoredHead,
  { logName, keys }: { logName: string; keys: readonly NoteKey[] },
  crypto: SyncCrypto,
): { signed: Checkpoint | undefined; problems: HeadProblem[] } {
  try {
    const signed = parseCheckpoint(head.checkpoint)
    const problems: HeadProblem[] = []
    if (signed.logName !== logName || signed.treeSize !== head.treeSize || !equalBytes(signed.root, head.root)) {
      problems.push({ kind: 'contradicted', reason: 'its checkpoint says another name, size or root' })
    }
    if (!verifyNoteSync(parseNote(head.checkpoint), keys, crypto)) {
      problems.push({ kind: 'unsigned', reason: 'no trusted key of the log signed its checkpoint' })
    }
    return { signed, problems }
  } catch (error) {
    if (!(error instanceof ProvenanceError)) throw error
    const reason = `its checkpoint cannot be read: ${error.message}`
    return { signed: undefined, problems: [{ kind: 'unreadable', reason }] }
  }
}

/**
 * Checks that an earlier checkpoint is a state of the log: that one of its keys signed it, and that the log had its
 * root then.
 *
 * @param rootThen the root of the log's first entries, as many as the checkpoint states; undefined if it has fewer, or
 * if they cannot be read
 */
export function checkEarlierCheckpoint(
  checkpoint: string,
  rootThen: Uint8Array | undefined,
  { logName, keys }: { logName: string; keys: readonly NoteKey[] },
  crypto: SyncCrypto,
): 'unsigned' | 'other_history' | undefined {
  try {
    const signed = parseCheckpoint(checkpoint)
    if (signed.logName !== logName || !verifyNoteSync(parseNote(checkpoint), keys, crypto)) return 'unsigned'
    return rootThen !== undefined && equalBytes(rootThen, signed.root) ? undefined : 'other_history'
  } catch (error) {
    if (error instanceof ProvenanceError) return 'unsigned'
    throw error
  }
}

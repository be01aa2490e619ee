import { fromBase64, toHex } from '../../provenance/bytes.ts'
import {
  type AsyncCrypto,
  type Checkpoint,
  ProvenanceError,
  parseCheckpoint,
  verifyConsistencyAsync,
} from '../../provenance/index.ts'
import type { LogKeys } from './log-keys.ts'
import { signedCheckpoint } from './log-steps.ts'
import type { Step } from './steps.ts'
import { keepCheckpoint, readTrust, type Store } from './trust-store.ts'

/** Reads the state of the log from the Hub. */
export interface LogSource {
  /** Returns the newest signed note. */
  checkpoint(): Promise<string>
  /** Returns hashes in base64, as `GET /api/v1/hub/log/consistency` does; undefined if the Hub refuses a proof. */
  consistency(from: number, to: number): Promise<readonly string[] | undefined>
}

interface Asked {
  tenant: string
  store: Store
  crypto: AsyncCrypto
  source: LogSource
  keys: LogKeys
  /** The signed state that {@link signedCheckpoint} returned. */
  shown: Checkpoint & { note: string }
}

/**
 * Checks that the log continues the state this browser saw last. Stores a consistent state, and never an inconsistent
 * one.
 */
export async function consistencyStep({ tenant, store, crypto, source, keys, shown }: Asked): Promise<Step> {
  const kept = readTrust(store, tenant)?.checkpoint
  if (!kept) {
    const isKept = keys.kept && shown.treeSize > 0
    if (isKept) keep(shown)
    return is(
      'passed',
      isKept
        ? 'This is the first state of the log that this browser sees. It keeps it, and later ones have to go on from it.'
        : 'This browser keeps nothing, so it cannot tell whether the history was rewritten.',
    )
  }
  const before = parseCheckpoint(kept.note)
  let now: Asked['shown'] = shown
  if (now.treeSize < before.treeSize) {
    // Another tab may have seen a later state meanwhile. The newest one is never shorter.
    const note = await source.checkpoint()
    const newest = await signedCheckpoint(note, keys, crypto)
    if (typeof newest === 'string') return is('failed', newest)
    if (newest.treeSize < before.treeSize)
      return is(
        'failed',
        `The log has ${newest.treeSize.toLocaleString()} entries; this browser has seen it with ${before.treeSize.toLocaleString()}. Entries are never taken out.`,
        { before, now: newest },
      )
    now = { ...newest, note }
    const ofAnswer = await isContinued(shown, now)
    if (!ofAnswer)
      return is('failed', 'The state that the record is proven in is not part of the log.', { before: shown, now })
  }
  if (!(await isContinued(before, now)))
    return is('failed', 'The log does not go on from the state that this browser saw: its history was rewritten.', {
      before,
      now,
    })
  keep(now)
  const found =
    now.treeSize === before.treeSize
      ? 'It is the state of the log that this browser saw last.'
      : `The log goes on from the ${before.treeSize.toLocaleString()} entries that this browser saw last.`
  return is('passed', found, { before, now })

  async function isContinued(first: Checkpoint, second: Checkpoint): Promise<boolean> {
    const same = first.treeSize === second.treeSize
    const path = same || first.treeSize === 0 ? [] : await source.consistency(first.treeSize, second.treeSize)
    return first.treeSize === 0 || (areHashes(path) && isConsistent(first, second, path, crypto))
  }

  function keep({ note, treeSize }: Asked['shown']): void {
    keepCheckpoint(store, tenant, { note, treeSize, seenAt: new Date().toISOString() })
  }
}

function is(state: Step['state'], found: string, states?: { before: Checkpoint; now: Checkpoint }): Step {
  const values = states && [
    { label: 'Seen before', value: `${states.before.treeSize} entries, root ${toHex(states.before.root)}` },
    { label: 'Shown now', value: `${states.now.treeSize} entries, root ${toHex(states.now.root)}` },
  ]
  return { name: 'history', state, found, values }
}

/** Returns true for a list of hashes: the Hub may return anything. */
function areHashes(path: unknown): path is readonly string[] {
  return Array.isArray(path) && path.every((hash) => typeof hash === 'string')
}

async function isConsistent(
  first: Checkpoint,
  second: Checkpoint,
  path: readonly string[],
  crypto: AsyncCrypto,
): Promise<boolean> {
  try {
    const sizes = { firstSize: first.treeSize, secondSize: second.treeSize }
    const roots = { firstRoot: first.root, secondRoot: second.root }
    return await verifyConsistencyAsync({ ...sizes, ...roots, path: path.map(fromBase64) }, crypto.sha256)
  } catch (error) {
    if (error instanceof ProvenanceError) return false
    throw error
  }
}

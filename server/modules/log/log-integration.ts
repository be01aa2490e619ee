import { checkpointText, logLeafHash, ProvenanceError, parseNote, signedNote } from '../../../provenance/index.ts'
import { openSeal } from '../../../provenance/log.ts'
import { checkHead } from '../../../provenance/log-verifier.ts'
import type { TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import { nodeCrypto } from '../../records/node-crypto.ts'
import type { RecordClock } from '../../records/record-clock.ts'
import type { ProvenanceSigner, PublishedKey } from '../keys/keys-types.ts'
import {
  type Arrival,
  deleteArrivals,
  findArrivals,
  findEntered,
  findEntries,
  findHead,
  findSealParts,
  findTiles,
  insertEntries,
  lockLog,
  type SealParts,
  saveHead,
  saveTiles,
  sealOfParts,
} from './log-store.ts'
import type { LogEntry, LogHead } from './log-types.ts'
import { edgeTiles, LogCorruptionError, Tiles, TreeEdge } from './tree-tiles.ts'

const { sha256 } = nodeCrypto
const hashBytes = 32

/** Signals that none of the known keys signed the head. There may be a newer key. */
export class UnknownSigner extends Error {}

interface Leaf {
  entry: Omit<LogEntry, 'logIndex'>
  hash: Uint8Array
}

/**
 * Appends the seals of the oldest arrivals to the tenant's log, and signs the new state. `more` states that there may
 * be further arrivals. Signs only a continuation of the previous state: throws {@link LogCorruptionError} if the tiles,
 * the entries or the head were edited.
 */
export async function integrateArrivals(
  tx: TenantTx,
  parts: {
    tenant: Tenant
    signer: ProvenanceSigner
    /** The keys of the tenant, including retired ones. */
    knownKeys: readonly PublishedKey[]
    clock: RecordClock
    arrivalsMax: number
  },
): Promise<{ head: LogHead; signed: boolean; more: boolean }> {
  const { tenant, signer, arrivalsMax } = parts
  await lockLog(tx)
  const before = await findHead(tx)
  const arrivals = await findArrivals(tx, arrivalsMax)
  const more = arrivals.length === arrivalsMax
  if (before) {
    requireSigned(before, tenant.logName, parts.knownKeys)
    if (arrivals.length === 0 && isSignedBy(before, signer)) return { head: before, signed: false, more }
  }

  const size = before?.treeSize ?? 0
  if ((await findEntries(tx, size, 1)).length > 0)
    throw new LogCorruptionError(`it has entries beyond the ${size} of its head`)
  const edge = new TreeEdge(size, new Tiles(await findTiles(tx, edgeTiles(size)), sha256), sha256)
  if (before && Buffer.compare(edge.root(), before.root) !== 0)
    throw new LogCorruptionError(`its tiles do not lead to the root of its head`)

  const leaves = await leavesOf(tx, tenant, arrivals)
  const { tiles, root } = edge.extended(leaves.map((leaf) => leaf.hash))
  if (leaves.length > 0) {
    await insertEntries(
      tx,
      leaves.map(({ entry }, i) => ({ ...entry, logIndex: size + i })),
    )
    await saveTiles(tx, tiles)
  }
  const moment = parts.clock.next()
  const treeSize = size + leaves.length
  const text = checkpointText({ logName: tenant.logName, treeSize, root, timeMicros: moment.micros })
  const checkpoint = signedNote(text, tenant.logName, signer.keyId, signer.sign(Buffer.from(text)))
  const head = { treeSize, root, checkpoint }
  await saveHead(tx, head, moment.createdAt)
  if (arrivals.length > 0) {
    await deleteArrivals(
      tx,
      arrivals.map((arrival) => arrival.arrival_id),
    )
  }
  return { head, signed: true, more }
}

/**
 * Returns whether that key signed the checkpoint, by the key hash of the signature. Throws {@link LogCorruptionError}.
 */
export function isSignedBy(head: LogHead, signer: ProvenanceSigner): boolean {
  try {
    const { signatures } = parseNote(head.checkpoint)
    return signatures.some(({ keyHash }) => keyHash.every((byte, i) => byte === signer.keyIdBytes[i]))
  } catch (error) {
    if (error instanceof ProvenanceError) throw unreadableHead()
    throw error
  }
}

function requireSigned(head: LogHead, logName: string, keys: readonly PublishedKey[]): void {
  const [problem] = checkHead(head, { logName, keys }, nodeCrypto).problems
  if (problem?.kind === 'unreadable') throw unreadableHead()
  if (problem?.kind === 'contradicted') throw new LogCorruptionError('its head differs from its checkpoint')
  if (problem?.kind === 'unsigned') throw new UnknownSigner()
}

const unreadableHead = () => new LogCorruptionError('the checkpoint of its head cannot be read')

/** Returns the leaves in the order of the arrivals. Skips seals that are already in the log. */
async function leavesOf(tx: TenantTx, tenant: Tenant, arrivals: readonly Arrival[]): Promise<Leaf[]> {
  if (arrivals.length === 0) return []
  const sealIds = arrivals.flatMap((arrival) => arrival.seal_ids)
  const taken = await findEntered(tx, sealIds)
  const withoutLeaves = arrivals.filter((arrival) => !hasLeaves(arrival)).flatMap((arrival) => arrival.seal_ids)
  const stored = new Map(
    (withoutLeaves.length === 0 ? [] : await findSealParts(tx, withoutLeaves)).map((seal) => [seal.seal_id, seal]),
  )
  const leaves: Leaf[] = []
  for (const arrival of arrivals) {
    arrival.seal_ids.forEach((sealId, i) => {
      if (taken.has(sealId)) return
      taken.add(sealId)
      const { first_ids, last_ids, log_leaves } = arrival
      leaves.push({
        entry: { sealId, firstId: first_ids[i] ?? sealId, lastId: last_ids[i] ?? sealId },
        hash: hasLeaves(arrival)
          ? log_leaves!.subarray(i * hashBytes, (i + 1) * hashBytes)
          : leafOfStored(tenant.logName, sealId, stored.get(sealId)),
      })
    })
  }
  return leaves
}

function hasLeaves({ log_leaves, seal_ids }: Arrival): boolean {
  return log_leaves !== null && log_leaves.length === seal_ids.length * hashBytes
}

/**
 * Returns the leaf of a seal that was stored before the log existed. A missing or unreadable seal gets a leaf that
 * states this and that no seal has, so that the sweeper reports it.
 */
function leafOfStored(logName: string, sealId: string, stored: SealParts | undefined): Uint8Array {
  const lost = `orghub/lost-seal/v1\nlog ${logName}\nseal ${sealId}\n`
  return logLeafHash(noteOfStored(logName, stored) ?? lost, sha256)
}

function noteOfStored(logName: string, stored: SealParts | undefined): string | undefined {
  const seal = stored && sealOfParts(stored)
  if (seal === undefined || seal === 'unreadable') return undefined
  try {
    return openSeal(seal, logName, sha256).note
  } catch (error) {
    if (error instanceof ProvenanceError) return undefined
    throw error
  }
}

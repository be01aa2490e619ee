import { toBase64, toHex } from '../../../provenance/bytes.ts'
import {
  type Cosign,
  decodeCosign,
  type EarlierState,
  keyDocumentEntry,
  ProvenanceError,
  parseNote,
  proofBundleVersion,
} from '../../../provenance/index.ts'
import { readTenant } from '../../db/database.ts'
import type { Caller, Tenant } from '../../http/caller.ts'
import type { ModuleParts } from '../../module-parts.ts'
import { nodeCrypto } from '../../records/node-crypto.ts'
import type { LogEntryRecords, RecordPlace } from '../records/log-entry-records-types.ts'
import { beyond, noteOf, proofOf } from './log-proofs.ts'
import { explained } from './tenant-logs.ts'
import { readConsistency } from './tree-reading.ts'

/** Provides records together with all that proves them offline; see provenance/proof-bundle.ts. */
export interface ProofBundles {
  /**
   * Returns the bundle of a record as JSON. The id must be in lower case.
   *
   * @param earlierSize leaves of an earlier state of the log, which the checkpoint is to be proved to continue
   * @throws DomainError `not-found` for a record that the caller cannot read, and for one that is not in the log;
   *   `validation-failed` for a state that the log has not reached
   */
  bundle(caller: Caller, recordId: string, earlierSize?: number): Promise<string>
}

export function createProofBundles(
  deps: Pick<ModuleParts, 'database' | 'logs' | 'keys' | 'clock'> & { records: LogEntryRecords },
): ProofBundles {
  const { database, records, keys, clock } = deps

  /** @param signers beginnings of key ids. Another process may have rotated the key a moment ago. */
  async function keysOf(tenantId: string, signers: readonly string[]) {
    const cached = await keys.publicKeysOf(tenantId)
    const isComplete = signers.every((signer) => cached.some(({ keyId }) => keyId.startsWith(signer)))
    return isComplete ? cached : keys.publicKeysOf(tenantId, signers)
  }

  async function earlierState({ slug }: Tenant, size: number, treeSize: number): Promise<EarlierState> {
    if (size > treeSize) throw beyond('consistency_from', treeSize)
    const { path, fromRoot } = await readTenant(database, slug, (tx) => explained(readConsistency(tx, size, treeSize)))
    return { tree_size: size, root_hash: toBase64(fromRoot), path: path.map(toBase64) }
  }

  return {
    async bundle({ tenant, scopes }, recordId, earlierSize) {
      const { place, json } = await readTenant(database, tenant.slug, (tx) =>
        records.recordOf(tx, recordId, { scopes, now: clock.next().createdAt }),
      )
      const { checkpoint, ...inclusion } = await proofOf(deps, tenant, recordId, place)
      const earlier =
        earlierSize === undefined ? undefined : await earlierState(tenant, earlierSize, inclusion.tree_size)
      const note = noteOf(tenant, place)
      const cosign = cosignIn(place)
      const publicKeys = await keysOf(tenant.slug, [
        ...(cosign ? [cosign.keyId] : []),
        ...parseNote(checkpoint).signatures.map(({ keyHash }) => toHex(keyHash)),
      ])
      const members = {
        provenance_hash: place.provenanceHash,
        provenance_cosign: place.provenanceCosign,
        seal: {
          seal_id: place.sealId,
          leaf_index: place.leafIndex,
          ...(cosign && { leaf_count: cosign.leafCount }),
          ...(note && { note }),
        },
        inclusion_proof: inclusion,
        checkpoint,
        ...(earlier && { consistency_from: earlier }),
        public_keys: publicKeys.map((key) => keyDocumentEntry(key, nodeCrypto.sha256)),
        how_to_verify: howToVerify,
      }
      // The record stays text: serialized again, an edited one could look different.
      return `{"bundle_version":${proofBundleVersion},"record":${json},${JSON.stringify(members).slice(1)}`
    },
  }
}

/** Returns the cosignature; undefined if the seal was edited so that the record has none. */
function cosignIn({ provenanceCosign }: RecordPlace): Cosign | undefined {
  try {
    return decodeCosign(provenanceCosign)
  } catch (error) {
    if (error instanceof ProvenanceError) return undefined
    throw error
  }
}

const howToVerify =
  'Save this response as a file and run: hub verify FILE --keys provenance-keys.json. The keys come from ' +
  '/.well-known/provenance-keys.json of the Hub, fetched apart from this file; without --keys the keys in this file ' +
  'are used, which shows that the file is whole, but not who made it. The Python verifier of the project takes the ' +
  'same file. Compare the checkpoint with one that you kept to show that the history was not rewritten, or an older one with consistency_from.'

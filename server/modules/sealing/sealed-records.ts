import { cosignerOfSeal } from '../../../provenance/cosign.ts'
import { type JsonObject, ProvenanceError } from '../../../provenance/index.ts'
import { openSeal } from '../../../provenance/log.ts'
import { nodeCrypto } from '../../records/node-crypto.ts'
import { sealOf, unknownCosign } from '../../records/record-cosign.ts'
import {
  isAnswerable,
  isOfItsType,
  parseCanonical,
  provenanceHashOf,
  responseTextWith,
} from '../../records/record-response.ts'
import type { SealedRow, StoredSeal } from '../../records/record-rows.ts'
import {
  countLeaves,
  findRecordsOfEntries,
  findSelectedEntries,
  findSelectedRows,
  findSpan,
} from './sealed-records-store.ts'
import type { ProvenRecord, SealedRecords, SelectedEntry } from './sealed-records-types.ts'

const saltBytes = 16
/** The length of a hash in hexadecimal digits. */
const hashLength = 64

export const sealedRecords: SealedRecords = {
  ofEntries: findRecordsOfEntries,
  answers: (tenantId, { records, seals }) => provenRows(tenantId, records, seals).map(toResponse),
  spanOf: findSpan,
  countLeaves,
  selectedEntries: findSelectedEntries,
  provenRecords,
  selectedRows: findSelectedRows,
  noteOf,
  provenRows: (tenantId, { rows, seals }) => provenRows(tenantId, rows, seals),
}

function provenRecords(
  { seal, texts }: SelectedEntry,
  withCosign: boolean,
  recordTypes: readonly string[],
): ProvenRecord[] | undefined {
  if (texts === undefined) return undefined
  const records: ProvenRecord[] = []
  const cosign = withCosign && texts.canonical.length > 0 ? cosigner(seal) : () => unknownCosign
  for (let at = 0; at < texts.canonical.length; at++) {
    const canonical = texts.canonical[at]!
    const leafIndex = texts.leafIndexes[at]!
    const members = parseCanonical(canonical)
    if (!isAnswerable(canonical, members) || canonical.includes('\r')) return undefined
    if (!recordTypes.includes(String(members.record_type))) return undefined
    const provenanceHash = `sha256:${texts.hashes.slice(hashLength * at, hashLength * (at + 1))}`
    const salt = texts.salts.subarray(saltBytes * at, saltBytes * (at + 1))
    records.push({ leafIndex, canonical, members, provenanceHash, provenanceCosign: cosign(leafIndex, salt) })
  }
  return records
}

function provenRows(
  tenantId: string,
  rows: readonly SealedRow[],
  seals: ReadonlyMap<string, StoredSeal>,
): ProvenRecord[] {
  let lastSeal: string | undefined
  let cosign: Cosigner = () => unknownCosign
  return rows.map((row) => {
    const { canonical, leaf_index: leafIndex } = row
    if (row.seal_id !== lastSeal) {
      cosign = cosigner(seals.get(row.seal_id))
      lastSeal = row.seal_id
    }
    const provenance = { provenanceHash: provenanceHashOf(row), provenanceCosign: cosign(leafIndex, bytesOf(row.salt)) }
    const members = parseCanonical(canonical)
    // A canonical text has no line breaks.
    const isOfType = isOfItsType(row, members)
    if (row.purged_at === null && isOfType && isAnswerable(canonical, members) && !/[\r\n]/.test(canonical)) {
      return { leafIndex, canonical, members, ...provenance }
    }
    const answered = JSON.parse(responseTextWith(tenantId, row, provenance.provenanceCosign)) as JsonObject
    const answer = JSON.stringify(answered)
    return { leafIndex, canonical: isOfType ? canonical : answer, members: answered, ...provenance, answer }
  })
}

function bytesOf(salt: string): Uint8Array {
  return Buffer.from(salt, 'hex')
}

/** Returns the API form of a record that is not purged; see {@link responseTextWith}. */
function toResponse({ canonical, provenanceHash, provenanceCosign, answer }: ProvenRecord): string {
  return (
    answer ??
    `${canonical.slice(0, -1)},"is_purged":false,"provenance_hash":"${provenanceHash}","provenance_cosign":"${provenanceCosign}"}`
  )
}

type Cosigner = (leafIndex: number, salt: Uint8Array) => string

/** Returns the function that cosigns the records of a seal. Computes its tree once for all of them. */
function cosigner(stored: StoredSeal | undefined): Cosigner {
  const seal = stored && sealOf(stored)
  const cosign = seal && unlessMalformed(() => cosignerOfSeal(seal, nodeCrypto.sha256))
  if (!cosign) return () => unknownCosign
  return (leafIndex, salt) => unlessMalformed(() => cosign(leafIndex, salt)) ?? unknownCosign
}

function noteOf(stored: StoredSeal, logName: string): string | undefined {
  const seal = sealOf(stored)
  return seal && unlessMalformed(() => openSeal(seal, logName, nodeCrypto.sha256).note)
}

/** Returns the result, or undefined for edited data. */
function unlessMalformed<Result>(compute: () => Result): Result | undefined {
  try {
    return compute()
  } catch (error) {
    if (error instanceof ProvenanceError) return undefined
    throw error
  }
}

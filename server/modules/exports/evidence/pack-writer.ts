import { hash } from 'node:crypto'
import { recordTypes } from '../../../../contract/literals.ts'
import { type EvidenceManifest, evidenceFiles, evidenceStatementText } from '../../../../provenance/evidence-pack.ts'
import { canonicalize, keyDocumentEntry, signedNote } from '../../../../provenance/index.ts'
import type { JsonValue } from '../../../../provenance/json.ts'
import { readTenant } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import { nodeCrypto } from '../../../records/node-crypto.ts'
import { recordIdFloorOf } from '../../../records/record-clock.ts'
import { isCorruptionError } from '../../../records/record-errors.ts'
import type { DeletionCertificates } from '../../erasure/erasure-types.ts'
import type { Sweeper } from '../../integrity-sweep/sweep-types.ts'
import type { StoredCheckpoints } from '../../log/log-types.ts'
import type { RetentionPolicy } from '../../retention/retention-types.ts'
import type { ExportRequest, RecordFileOrder } from '../exports-types.ts'
import type { PackOptions, PackWriter } from '../files/export-writer.ts'
import { type RecordFilesDeps, writeFile, writeRecordFiles } from '../files/record-files.ts'
import type { PackPeriod } from './evidence-store.ts'
import { packArchive } from './pack-archive.ts'
import { PackCheckpoints } from './pack-checkpoints.ts'
import { writePackLists } from './pack-lists.ts'
import { packReport } from './pack-report.ts'
import { PeriodRows } from './period-rows.ts'
import { LinesFile, type PackedFile, storedFile, textFile } from './stored-file.ts'

/** Sources of the files beside the records. */
export interface EvidenceSources {
  checkpoints: Pick<StoredCheckpoints, 'near'>
  certificates: Pick<DeletionCertificates, 'get'>
  sweeper: Pick<Sweeper, 'sweep'>
  retention: Pick<RetentionPolicy, 'inForce'>
}

type PackDeps = Omit<RecordFilesDeps, 'storage'> & EvidenceSources

/** The types whose records are content, except for columns that every mode stores in clear. */
const contentTypes = recordTypes.filter((type) => type !== 'governance_event' && type !== 'telemetry_event')

const lineFiles = {
  signIns: 'sign-ins.jsonl',
  configuration: 'configuration.jsonl',
  retentionChanges: 'retention-changes.jsonl',
}

/** Creates the writer of evidence packs: it writes each file beside the archive, and deletes it afterwards. */
export function createPackWriter(deps: PackDeps): PackWriter {
  return async (tenant, order, key, options) => {
    // Names that continue the key: deleting the archive also deletes their unfinished writes.
    const keyOf = (name: string) => `${key}.parts.${name}`
    const removeParts = async () => {
      for (const name of [...evidenceFiles, 'records.jsonl.seals']) await options.storage.delete(keyOf(name))
    }
    try {
      await removeParts()
      const { files, rows } = await writeParts(deps, tenant, order, keyOf, options)
      const archive = await writeFile(
        options.storage,
        key,
        packArchive(files, order.createdAt),
        { compression: 'gzip' },
        options,
      )
      return { rows, sizeBytes: archive.sizeBytes, verificationSummary: null }
    } finally {
      await removeParts()
    }
  }
}

/** Writes all files of the archive. Returns them in its order. */
async function writeParts(
  deps: PackDeps,
  tenant: Tenant,
  order: ExportRequest,
  keyOf: (name: string) => string,
  options: PackOptions,
): Promise<{ files: PackedFile[]; rows: number }> {
  const { database, clock } = deps
  const { storage, signal } = options
  const period = periodOf(order)
  const checkpoints = await PackCheckpoints.read(deps, tenant, period)
  const records = await writeRecords(deps, tenant, { order, keyOf, options, checkpoints })
  const reader = { tenant, scopes: new Set(['hub:read'] as const) }
  const lists = await writePackLists({
    ...{ database, tenant, period, storage, keyOf, reserved: options.reserved, signal },
    certificateOf: (recordId) => certificateText(recordId, () => deps.certificates.get(reader, recordId)),
  })
  const inForce = await readTenant(database, tenant.slug, (tx) => deps.retention.inForce(tx))
  const retention = { rules: inForce.rules, four_eyes: inForce.four_eyes }
  // The time before the scan: it covers everything that was committed by then.
  const verification = {
    started_at: clock.next().createdAt,
    ...(await deps.sweeper.sweep(tenant, { signal, isPaced: true })),
  }
  const usage = records.rows.usage.result()
  const signer = await deps.keys.signerOf(tenant.slug)
  const keys = (await deps.keys.publicKeysOf(tenant.slug, [signer.keyId])).map((key) =>
    keyDocumentEntry(key, nodeCrypto.sha256),
  )
  const { before, after } = checkpoints
  const { head, span, leftOut } = records.written
  const report = packReport({
    ...{ tenant, order, period, usage, verification, retention, lists, keys, leftOut, span, before, after },
    treeSize: head.treeSize,
    events: records.rows.listed,
    eventCounts: records.counts,
    rows: records.written.rows,
  })
  const json = (name: string, value: object) => textFile(name, `${JSON.stringify(value, undefined, 2)}\n`)
  const found = [
    ...[json('keys.json', { keys }), json('retention.json', retention), json('usage.json', usage)],
    ...[json('verification.json', verification), textFile('report.html', report), ...records.files],
    ...Object.values(lists).map(({ file }) => file),
  ]
  const files = evidenceFiles.map((name) => found.find((file) => file.name === name)!)
  const { pack, filter: _period, ...stated } = order
  const stating = {
    evidence_pack_version: 1,
    pack: {
      ...{ job_id: stated.jobId, tenant_id: tenant.slug, created_at: stated.createdAt, created_by: stated.createdBy },
      ...{ from: period.from, to: period.to, note: pack!.note, include_content: pack!.includeContent },
    },
    log: { name: tenant.logName, checkpoint: head.checkpoint, before, after },
    files: files.map(({ name, sizeBytes, sha256 }) => ({ name, size_bytes: sizeBytes, sha256 })),
  } satisfies Omit<EvidenceManifest, 'statement'>
  const digest = hash('sha256', canonicalize(stating as unknown as JsonValue))
  const text = evidenceStatementText(tenant.logName, order.jobId, digest)
  const statement = signedNote(text, tenant.logName, signer.keyId, signer.sign(Buffer.from(text)))
  return { files: [json('manifest.json', { ...stating, statement }), ...files], rows: records.written.rows }
}

/** Returns the certificate of an erased record. If its evidence is damaged, the line says so, and fails verification. */
async function certificateText(recordId: string, certificate: () => Promise<string>): Promise<string> {
  try {
    return await certificate()
  } catch (error) {
    if (!isCorruptionError(error)) throw error
    return JSON.stringify({
      record_id: recordId,
      certificate: null,
      problem: 'the stored evidence is damaged or missing',
    })
  }
}

/** Writes the records of the period, and the files of events among them. */
async function writeRecords(
  deps: PackDeps,
  tenant: Tenant,
  {
    order,
    keyOf,
    options,
    checkpoints,
  }: {
    order: ExportRequest
    keyOf: (name: string) => string
    options: PackOptions
    checkpoints: PackCheckpoints
  },
) {
  const { storage, reserved } = options
  const openLines = (name: string) => new LinesFile(storage, keyOf(name), { name, reserved })
  const lines = {
    signIns: openLines(lineFiles.signIns),
    configuration: openLines(lineFiles.configuration),
    retentionChanges: openLines(lineFiles.retentionChanges),
  }
  const rows = new PeriodRows(lines)
  const name = 'records.jsonl'
  const paths = { name, file: keyOf(name), manifest: keyOf(`${name}.manifest.json`), seals: keyOf(`${name}.seals`) }
  try {
    const written = await writeRecordFiles({ ...deps, storage }, tenant, recordOrderOf(tenant, order), {
      ...options,
      paths,
      follower: rows,
      widen: (tx, span, head) => checkpoints.enclose(tx, span, head),
    })
    const files = [
      await storedFile(storage, paths.file, name),
      await storedFile(storage, paths.manifest, `${name}.manifest.json`),
    ]
    for (const each of Object.values(lines)) files.push(await each.finish())
    const counts = {
      signIns: lines.signIns.lines,
      configuration: lines.configuration.lines,
      retentionChanges: lines.retentionChanges.lines,
    }
    return { written, files, rows, counts }
  } catch (error) {
    for (const each of Object.values(lines)) await each.abort()
    throw error
  }
}

/** In Mode B any record may lack its content, because its key may have been destroyed. */
function recordOrderOf({ mode }: Tenant, { pack, ...order }: ExportRequest): RecordFileOrder {
  const contentLeftOut = pack?.includeContent ? [] : contentTypes
  return { ...order, contentLeftOut, mayOmit: mode === 'B' ? recordTypes : contentLeftOut }
}

function periodOf({ filter }: ExportRequest): PackPeriod {
  const { created_at__gte: from = '', created_at__lt: to = '' } = filter
  return { from, to, firstId: recordIdFloorOf(from), endId: recordIdFloorOf(to) }
}

import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { type RecordType, recordTypes } from '../../contract/literals.ts'
import type { ExportManifest } from '../../provenance/export/export-manifest.ts'
import type { Tenant } from '../../server/http/caller.ts'
import { createMasterKeySecrets } from '../../server/modules/cmek/tenant-secrets.ts'
import { createExportEncryption } from '../../server/modules/exports/export-encryption.ts'
import type { ExportRequest } from '../../server/modules/exports/exports-types.ts'
import { createExportWriter, type ExportWriterDeps } from '../../server/modules/exports/files/export-writer.ts'
import { sealedRecords } from '../../server/modules/sealing/sealed-records.ts'
import { createVerificationPool } from '../../server/modules/verification/provenance-check-pool.ts'
import { createRecordVerifier, createStoredVerification } from '../../server/modules/verification/record-verifier.ts'
import { openStorage } from '../../server/storage/open-storage.ts'
import type { Storage } from '../../server/storage/storage.ts'
import { openLogLab } from '../log/log-lab.ts'

/** What came of an export. */
export interface WrittenFiles {
  rows: number
  sizeBytes: number
  verificationSummary: object | null
  /** As it is stored. */
  bytes: Buffer
  /** Inflated where it was compressed. */
  text: string
  manifest: ExportManifest
  /** Path of the file. */
  path: string
  manifestPath: string
  progress: [number, number][]
}

type Draft = Parameters<Awaited<ReturnType<typeof openLogLab>>['write']>[1]

/** Exports into a directory, on a real database, without jobs and HTTP. */
export async function openExportLab() {
  const lab = await openLogLab()
  const directory = await mkdtemp(join(tmpdir(), 'hub-exports-'))
  const storage = openStorage({ storageUrl: `file://${directory}`, dataDir: directory })
  const pool = createVerificationPool()
  const verification = createStoredVerification({
    ...lab,
    check: createRecordVerifier({ ...lab, holds: lab.holdCheck, pool }),
  })
  const encryption = createExportEncryption({ ...lab, secrets: createMasterKeySecrets(lab.masterKey) })
  const search = { ids: async () => [] }
  const deps: ExportWriterDeps = { ...lab, verification, records: sealedRecords, storage, encryption, search }
  let jobs = 0

  function orderOf(order: Partial<ExportRequest> = {}): ExportRequest {
    jobs += 1
    return {
      jobId: `exp_${String(jobs).padStart(4, '0')}`,
      format: 'jsonl',
      compression: null,
      filter: {},
      recordTypes,
      verify: false,
      includeProvenance: true,
      createdBy: 'client-1',
      createdAt: '2026-11-21T08:00:00.000000Z',
      ...order,
    }
  }

  async function write(
    tenant: Tenant,
    order: Partial<ExportRequest> = {},
    options: {
      signal?: AbortSignal
      onProgress?: (done: number) => Promise<void> | void
      storage?: Storage
      reserve?: (bytes: number) => Promise<number>
    } = {},
  ): Promise<WrittenFiles> {
    const whole = orderOf(order)
    const writer = createExportWriter({ ...deps, storage: options.storage ?? storage }, { progressMs: 0 })
    const progress: [number, number][] = []
    const written = await writer.write(tenant, whole, {
      signal: options.signal ?? new AbortController().signal,
      reserve: options.reserve,
      progress: async (done, total) => {
        progress.push([done, total])
        await options.onProgress?.(done)
      },
    })
    const names = writer.fileNames(whole)
    const path = join(directory, writer.keyOf(tenant.slug, whole.jobId, names.file))
    const manifestPath = join(directory, writer.keyOf(tenant.slug, whole.jobId, names.manifest!))
    const bytes = await readFile(path)
    const manifest = JSON.parse(await readFile(manifestPath, 'utf8')) as ExportManifest
    const text = whole.format === 'parquet' ? '' : String(whole.compression === 'gzip' ? gunzipSync(bytes) : bytes)
    return { ...written, bytes, text, manifest, path, manifestPath, progress }
  }

  return {
    ...lab,
    deps,
    storage,
    directory,
    orderOf,
    export: write,
    /** Records of one seal. */
    writeRecords: lab.write,
    /** Names of all files, hidden ones too. */
    files: async () =>
      (await readdir(directory, { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isFile())
        .map((entry) => entry.name),
    drop: async () => {
      await pool.close()
      await lab.drop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

export type ExportLab = Awaited<ReturnType<typeof openExportLab>>

/** Lines of a file in JSON Lines. */
export function linesOf(text: string): Record<string, unknown>[] {
  if (text !== '' && !text.endsWith('\n')) throw new Error('the last line does not end')
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}

/** Texts that formats and spreadsheets stumble over. */
export const awkwardTexts = [
  '=1+1',
  '+1',
  '-1',
  '@SUM(A1)',
  '\t=1',
  '\r=1',
  '\n=1',
  'comma, "quote", \'apostrophe\'',
  'line\nbreak\r\nand\rreturn',
  'Ünïcödé 漢字 \u{1F600} \u2028\u2029 \ufeff',
  '＝1+1',
  '"quoted"',
  ' leading and trailing ',
  'back\\slash \\n \\u0041',
  '\u0001\u001f\u007f',
  '{"is_purged":true}',
]

const nested = {
  a: [1, 2.5, -0.001, 1e21, { b: null, c: [true, false, []] }],
  'ключ "q"': 'line\nbreak',
  10: 'ten',
  9: 'nine',
}

/** One record of each type for each awkward text. */
export function mixedDrafts(): Draft[] {
  return awkwardTexts.flatMap((text, at): Draft[] => {
    const telemetry: Draft = {
      recordType: 'telemetry_event',
      fields: {
        skill_id: 'sum-up',
        skill_version: '1.0.0',
        archetype_id: 'analyst',
        user_id: `user:kim+${at}@example.com`,
        llm_platform: 'custom:home',
        llm_model: 'gpt-4o',
        ts: '2026-01-31T08:00:00.123456Z',
        success: at % 2 === 0,
        latency_ms: 599_999,
        tokens_in: 2 ** 31 - 1,
        tokens_out: 0,
        tokens_total_reported: 2 ** 31 - 1,
        cost_usd_estimate: 0.000001,
        cost_usd_computed: 1_000_000_000,
        price_source: 'override',
        error_code: 'E-1',
        metadata: { note: text },
      },
    }
    const of = (recordType: RecordType, fields: Draft['fields']): Draft => ({ recordType, fields })
    return [
      of('output', {
        skill_id: 'sum-up',
        title: text,
        content: nested,
        content_type: 'application/json',
        cost_usd_estimate: 0.1,
      }),
      of('artifact', {
        title: text,
        content: text,
        size_bytes: Number.MAX_SAFE_INTEGER,
        uri: 'https://files.example.com/a?b=c,d',
      }),
      of('decision', {
        decision_id: text,
        decision_subject: text,
        decision_outcome: 'approved',
        decision_rationale: text.repeat(50),
        decision_actor_role: 'lead',
      }),
      of('governance_event', { event_kind: 'custom.reviewed', subject: text, details: { text } }),
      of('skill_definition', {
        skill_id: 'sum-up',
        skill_version: '1.0.0',
        name: text,
        owner: 'legal',
        manifest: nested,
      }),
      telemetry,
    ]
  })
}

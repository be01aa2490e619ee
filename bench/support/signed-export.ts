import { createHash, generateKeyPairSync, hash, randomBytes, randomUUID, sign } from 'node:crypto'
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { exportStatementText } from '../../provenance/export/export-manifest.ts'
import {
  canonicalize,
  checkpointText,
  formatRecordHash,
  type JsonObject,
  type JsonValue,
  keyDocumentEntry,
  keyIdOf,
  logLeafHash,
  recordHash,
  sealNote,
  sealRecords,
  signedNote,
  TreeBuilder,
} from '../../provenance/index.ts'
import { sampleEvent } from './sample-events.ts'

const sha256 = (bytes: Uint8Array) => Buffer.from(hash('sha256', bytes, 'latin1'), 'latin1')
const logName = 'orghub/log/benchmark0000000000000'
/** Equal to the sizes at which the service seals the events of a batch. */
const batchSize = 1000
const sealSize = 64

/** Writes an export of telemetry events in JSON Lines, as the Hub does, and its manifest beside it. */
export function writeSignedExport(path: string, records: number): void {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const rawKey = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
  const key = {
    keyId: keyIdOf(logName, rawKey, sha256),
    name: logName,
    publicKey: rawKey,
    createdAt: '2026-01-01T00:00:00.000000Z',
    sign: (message: Uint8Array) => sign(null, message, privateKey),
  }
  const log = new TreeBuilder(sha256)
  const seals: JsonObject[] = []
  const file = openSync(path, 'w')
  const digest = createHash('sha256')
  let sizeBytes = 0
  for (let batch = 0; batch < records; batch += batchSize) {
    const end = Math.min(records, batch + batchSize)
    let rows = ''
    for (let at = batch; at < end; at += sealSize) {
      const texts = Array.from({ length: Math.min(sealSize, end - at) }, (_, i) => canonicalText(at + i))
      const hashes = texts.map((text) => recordHash(text, sha256))
      const input = {
        logName,
        keyId: key.keyId,
        sealId: uuid7(at),
        timeMicros: 1_790_000_000_000_000 + at,
        recordHashes: hashes,
        salts: texts.map(() => randomBytes(16)),
      }
      const { seal, cosigns, root } = sealRecords(input, { sha256, sign: key.sign })
      const statement = { logName, sealId: seal.sealId, leafCount: texts.length, timeMicros: seal.timeMicros, root }
      log.append(logLeafHash(sealNote(statement, key.keyId, seal.signature), sha256))
      seals.push({ seal_id: seal.sealId })
      for (const [i, text] of texts.entries()) {
        const provenance = `"provenance_hash":"${formatRecordHash(hashes[i]!)}","provenance_cosign":"${cosigns[i]}"`
        rows += `${text.slice(0, -1)},"is_purged":false,${provenance}}\n`
      }
    }
    const bytes = Buffer.from(rows)
    writeSync(file, bytes)
    digest.update(bytes)
    sizeBytes += bytes.length
  }
  closeSync(file)
  const name = path.slice(path.lastIndexOf('/') + 1)
  const fileEntry = { name, size_bytes: sizeBytes, sha256: digest.digest('hex'), rows: records }
  writeFileSync(`${path}.manifest.json`, JSON.stringify(manifestOf(key, log, seals, fileEntry)))
}

type Key = Parameters<typeof keyDocumentEntry>[0] & { sign(message: Uint8Array): Uint8Array }

function manifestOf(key: Key, log: TreeBuilder, seals: JsonObject[], file: JsonObject): object {
  const signed = (text: string) => signedNote(text, logName, key.keyId, key.sign(Buffer.from(text)))
  const root = log.root()
  const jobId = 'exp_benchmark'
  const stated = {
    manifest_version: 1,
    export: {
      job_id: jobId,
      created_at: '2026-11-21T08:00:00.000000Z',
      format: 'jsonl',
      compression: null,
      filter: {},
      record_types: ['telemetry_event'],
      include_provenance: true,
    },
    log: {
      name: logName,
      from: 0,
      to: log.size,
      tree_size: log.size,
      checkpoint: signed(checkpointText({ logName, treeSize: log.size, root, timeMicros: 1_790_000_000_000_000 })),
      left: [],
      right: [],
    },
    file,
    counts: { exported: file.rows, left_out: 0 },
    keys: { keys: [keyDocumentEntry(key, sha256)] },
    seals_sha256: hash('sha256', seals.map((seal) => `${canonicalize(seal)}\n`).join('')),
  }
  const head = hash('sha256', canonicalize(stated as unknown as JsonValue))
  return { ...stated, statement: signed(exportStatementText(logName, jobId, head)), seals }
}

function canonicalText(at: number): string {
  const createdMs = 1_790_000_000_000 + at
  return canonicalize({
    ...sampleEvent(at, createdMs),
    record_id: uuid7(at),
    record_type: 'telemetry_event',
    tenant_id: 'bench',
    created_at: new Date(createdMs).toISOString().replace('Z', '000Z'),
    created_by: 'VQ3mGm4WJ0qkZr7n',
    schema_version: '1.0',
    related_records: [],
    cost_usd_computed: 0.004215,
    price_source: 'catalogue',
  } as JsonObject)
}

/** Returns a UUID that is random except for its version. */
function uuid7(at: number): string {
  const random = randomUUID()
  return `019f0000-${(at % 65_536).toString(16).padStart(4, '0')}-7${random.slice(15)}`
}

import { toBase64, toHex, utf8 } from '../../provenance/bytes.ts'
import { checkpointText } from '../../provenance/checkpoint.ts'
import { subtreesOf, TreeBuilder } from '../../provenance/compact-range.ts'
import { type ExportManifest, exportStatementText, type ManifestSeal } from '../../provenance/export/export-manifest.ts'
import {
  canonicalize,
  type JsonObject,
  type JsonValue,
  type KeyDocument,
  keyDocumentEntry,
  leafHash,
  logLeafHash,
  merkleRoot,
  sealNote,
} from '../../provenance/index.ts'
import { signedNote } from '../../provenance/log.ts'
import { derivedUuid, firstKey, type LogKey, type SealedTexts, sealTexts } from './fixtures.ts'
import { sha256 } from './node-crypto.ts'

/** A record as they are: members of its own before and after those that all have. */
export function exportRecord(i: number, more: JsonObject = {}): JsonObject {
  return {
    content: { text: `No. ${i} says “hello”`, is_purged: true, record_id: 'not this one' },
    created_at: '2026-01-02T03:04:05.678901Z',
    created_by: 'svc',
    record_id: derivedUuid(`export record ${i}`),
    record_type: i % 3 === 0 ? 'decision' : 'artifact',
    related_records: [],
    schema_version: '1.0',
    tenant_id: 'acme',
    title: `Title ${i} ,"is_purged":`,
    ...more,
  }
}

export type LoggedSeal = { readonly sealed: SealedTexts; readonly texts: readonly string[]; readonly note: string }

/** A log of seals with so many records each. */
export function sealedLog(sizes: readonly number[], key: LogKey = firstKey, label = 'export'): LoggedSeal[] {
  let i = 0
  return sizes.map((size, at) => {
    const texts = Array.from({ length: size }, () => canonicalize(exportRecord(i++, { created_by: label })))
    const sealed = sealTexts(texts, key, `${label} ${at}`)
    const { sealId, timeMicros, keyId, signature } = sealed.seal
    const leaves = sealed.hashes.map((hash, leaf) => leafHash(sealed.salts[leaf]!, hash, sha256))
    const root = merkleRoot(leaves, sha256)
    const statement = { logName: key.name, sealId, leafCount: size, timeMicros, root }
    return { sealed, texts, note: sealNote(statement, keyId, signature) }
  })
}

export type ExportOptions = {
  readonly key?: LogKey
  /** Log entries, the last excluded. */
  readonly from?: number
  readonly to?: number
  /** Whether the row is in the file. */
  readonly keeps?: (record: JsonObject, entry: number, leafIndex: number) => boolean
  readonly includeProvenance?: boolean
  readonly verification?: boolean
  /** That the manifest brings; else only the key. */
  readonly keys?: KeyDocument
}

export type MadeExport = {
  /** Without line feeds. */
  readonly rows: readonly string[]
  readonly file: string
  readonly manifest: ExportManifest
}

/** An export in JSONL as the Hub writes it, and its manifest. */
export function makeExport(log: readonly LoggedSeal[], options: ExportOptions = {}): MadeExport {
  const { key = firstKey, from = 0, to = log.length, keeps = () => true, includeProvenance = true } = options
  const rows: string[] = []
  const seals: ManifestSeal[] = []
  let leftOut = 0
  for (let entry = from; entry < to; entry++) {
    const { sealed, texts, note } = log[entry]!
    const blinded: Record<string, string> = {}
    texts.forEach((text, i) => {
      const { hash, cosign } = sealed.items[i]!
      if (keeps(JSON.parse(text) as JsonObject, entry, i)) {
        rows.push(
          includeProvenance
            ? rowText(text, hash, cosign, options.verification)
            : `${text.slice(0, -1)},"is_purged":false}`,
        )
      } else {
        blinded[i] = toBase64(sealed.seal.leaves.subarray(32 * i, 32 * i + 32))
        leftOut++
      }
    })
    const blindedCount = Object.keys(blinded).length
    if (blindedCount === texts.length) seals.push({ note })
    else seals.push({ seal_id: sealed.seal.sealId, ...(blindedCount === 0 ? {} : { blinded }) })
  }
  const file = rows.map((row) => `${row}\n`).join('')
  return {
    rows,
    file,
    manifest: manifestOf(file, {
      log,
      key,
      from,
      to,
      rows: rows.length,
      leftOut,
      keys: options.keys,
      ...(includeProvenance ? { seals } : {}),
    }),
  }
}

export function rowText(canonical: string, hash: string, cosign: string, verification = false): string {
  const checks =
    '{"provenance_hash_matches":true,"provenance_cosign_valid":true,"schema_version_supported":true,"no_active_legal_hold_violation":true}'
  const more = verification ? `,"verification":{"verified":true,"checks":${checks}}` : ''
  return `${canonical.slice(0, -1)},"is_purged":false,"provenance_hash":"${hash}","provenance_cosign":"${cosign}"${more}}`
}

type ManifestParts = {
  readonly log: readonly LoggedSeal[]
  readonly key: LogKey
  readonly from: number
  readonly to: number
  readonly rows: number
  readonly leftOut: number
  readonly seals?: readonly ManifestSeal[]
  readonly keys?: KeyDocument | undefined
}

/** The signed manifest of a file with these rows. */
export function manifestOf(file: string | Uint8Array, parts: ManifestParts): ExportManifest {
  const { log, key, from, to, seals } = parts
  const bytes = typeof file === 'string' ? utf8(file) : file
  const jobId = 'exp_0198c1c87d3f7000a000000000000001'
  const stated = {
    manifest_version: 1 as const,
    export: {
      job_id: jobId,
      created_at: '2026-01-02T04:00:00.000000Z',
      format: 'jsonl' as const,
      compression: null,
      filter: {},
      record_types: ['artifact', 'decision'],
      include_provenance: seals !== undefined,
    },
    log: {
      name: key.name,
      from,
      to,
      tree_size: log.length,
      checkpoint: checkpointOf(log, key),
      left: subtreeRoots(log, 0, from),
      right: subtreeRoots(log, to, log.length),
    },
    file: { name: 'export.jsonl', size_bytes: bytes.length, sha256: toHex(sha256(bytes)), rows: parts.rows },
    counts: { exported: parts.rows, left_out: parts.leftOut },
    keys: parts.keys ?? { keys: [keyDocumentEntry(key, sha256)] },
    ...(seals === undefined ? {} : { seals_sha256: sealsDigest(seals) }),
  }
  return signedManifest(stated, key, seals)
}

/** Signs what a manifest states, whatever it is. */
export function signedManifest(
  stated: Omit<ExportManifest, 'statement' | 'seals'>,
  key: LogKey,
  seals: readonly ManifestSeal[] | undefined,
): ExportManifest {
  const digest = toHex(sha256(utf8(canonicalize(stated as unknown as JsonValue))))
  const text = exportStatementText(key.name, stated.export.job_id, digest)
  const statement = signedNote(text, key.name, key.keyId, key.sign(utf8(text)))
  return { ...stated, statement, ...(seals === undefined ? {} : { seals }) }
}

export function sealsDigest(seals: readonly ManifestSeal[]): string {
  return toHex(sha256(utf8(seals.map((seal) => `${canonicalize(seal)}\n`).join(''))))
}

function leavesOf(log: readonly LoggedSeal[]): Uint8Array[] {
  return log.map(({ note }) => logLeafHash(note, sha256))
}

function checkpointOf(log: readonly LoggedSeal[], key: LogKey): string {
  const root = merkleRoot(leavesOf(log), sha256)
  const text = checkpointText({ logName: key.name, treeSize: log.length, root, timeMicros: 1_767_323_045_123_456 })
  return signedNote(text, key.name, key.keyId, key.sign(utf8(text)))
}

function subtreeRoots(log: readonly LoggedSeal[], begin: number, end: number): string[] {
  const leaves = leavesOf(log)
  return subtreesOf(begin, end).map(({ height, index }) => {
    const tree = new TreeBuilder(sha256)
    for (let i = index * 2 ** height; i < (index + 1) * 2 ** height; i++) tree.append(leaves[i]!)
    return toBase64(tree.root())
  })
}

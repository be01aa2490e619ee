import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { deriveKey } from '../../secrets/encryption.ts'

/**
 * The version of the format. A backup is a gzip-compressed tar archive: `backup.json` first, then the rows of each
 * table in parts, in the text form of COPY, and `manifest.json` last. Without the manifest a backup is incomplete.
 */
export const formatVersion = 1
export const headName = 'backup.json'
export const manifestName = 'manifest.json'
/** Maximum size of the rows in one part. */
export const partBytesMax = 4 * 1024 * 1024

/** Facts that a restore needs first. */
export interface BackupHead {
  format: number
  /** The version of the Hub that made it. */
  hub_version: string
  /** The time of its snapshot, RFC 3339 in UTC. */
  created_at: string
  /** Detects another master key. It reveals nothing about the key. */
  master_key_check: { salt: string; mac: string }
  migrations: { name: string; checksum: string }[]
  /** The names of the monthly partitions of records. */
  record_partitions: string[]
  /** The columns of each table, in the order of its rows' values. */
  tables: { name: string; columns: string[]; per_tenant: boolean }[]
}

export interface BackupPart {
  name: string
  bytes: number
  /** The digest in hexadecimal. */
  sha256: string
}

/** Proves that a backup is complete and unaltered. */
export interface BackupManifest {
  /** The parts in the order of the archive, `backup.json` included. */
  parts: BackupPart[]
  tenants: string[]
  /** The number of rows by name of the table. */
  rows: Record<string, number>
  /** HMAC-SHA256 over the rest, under a key derived from the master key. */
  mac: string
}

/** Returns `tenants/<slug>/<table>/<number>`, or `registry/<table>/<number>` for a table without a tenant. */
export function partName(table: string, tenant: string | undefined, number: number): string {
  const place = tenant === undefined ? 'registry' : `tenants/${tenant}`
  return `${place}/${table}/${String(number).padStart(6, '0')}`
}

/** Parses a name of {@link partName}; returns undefined for any other. */
export function readPartName(name: string): { table: string; tenant: string | undefined } | undefined {
  const [, tenant, table] = /^(?:registry|tenants\/([a-z][a-z0-9-]{1,62}))\/([a-z_]+)\/\d{6,}$/.exec(name) ?? []
  return table === undefined ? undefined : { table, tenant }
}

export function masterKeyCheck(masterKey: Buffer, salt = randomBytes(16)): BackupHead['master_key_check'] {
  const mac = createHmac('sha256', deriveKey(masterKey, 'backup check')).update(salt).digest('hex')
  return { salt: salt.toString('hex'), mac }
}

export function isMasterKeyOf(head: BackupHead, masterKey: Buffer): boolean {
  const { salt, mac } = head.master_key_check
  return isEqual(mac, masterKeyCheck(masterKey, Buffer.from(salt, 'hex')).mac)
}

export function signManifest(manifest: Omit<BackupManifest, 'mac'>, masterKey: Buffer): BackupManifest {
  return { ...manifest, mac: macOf(manifest, masterKey) }
}

export function isManifestAuthentic({ mac, ...manifest }: BackupManifest, masterKey: Buffer): boolean {
  return typeof mac === 'string' && isEqual(mac, macOf(manifest, masterKey))
}

export function describePart(name: string, content: Buffer): BackupPart {
  return { name, bytes: content.length, sha256: hash('sha256', content, 'hex') }
}

function macOf({ parts, tenants, rows }: Omit<BackupManifest, 'mac'>, masterKey: Buffer): string {
  const text = JSON.stringify([parts.map(({ name, bytes, sha256 }) => [name, bytes, sha256]), tenants, rows])
  return createHmac('sha256', deriveKey(masterKey, 'backup manifest')).update(text).digest('hex')
}

function isEqual(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

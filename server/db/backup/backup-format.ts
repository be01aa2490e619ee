import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { deriveKey } from '../../secrets/encryption.ts'

/**
 * A backup is a gzip-compressed tar archive: `backup.json` first, then the rows of each table in parts, in the text form
 * of COPY, and `manifest.json` last, without which it is not whole.
 */
export const formatVersion = 1
export const headName = 'backup.json'
export const manifestName = 'manifest.json'
/** Of rows in one part. */
export const partBytesMax = 4 * 1024 * 1024

/** What has to be known before anything is restored. */
export interface BackupHead {
  format: number
  /** Of the Hub that made it. */
  hub_version: string
  /** RFC 3339, UTC: when its snapshot was taken. */
  created_at: string
  /** By which another master key is told. It tells nothing about the key. */
  master_key_check: { salt: string; mac: string }
  migrations: { name: string; checksum: string }[]
  /** Names of the monthly partitions of records. */
  record_partitions: string[]
  /** Columns of each table, in the order of its rows' values. */
  tables: { name: string; columns: string[]; per_tenant: boolean }[]
}

export interface BackupPart {
  name: string
  bytes: number
  /** Hexadecimal. */
  sha256: string
}

/** What shows that a backup is whole, and as it was made. */
export interface BackupManifest {
  /** In the order of the archive, `backup.json` included. */
  parts: BackupPart[]
  tenants: string[]
  /** By name of the table. */
  rows: Record<string, number>
  /** HMAC-SHA256 over the rest, under a key of the master key. */
  mac: string
}

/** `tenants/<slug>/<table>/<number>`, or `registry/<table>/<number>` for what belongs to none. */
export function partName(table: string, tenant: string | undefined, number: number): string {
  const place = tenant === undefined ? 'registry' : `tenants/${tenant}`
  return `${place}/${table}/${String(number).padStart(6, '0')}`
}

/** Undefined for what {@link partName} does not write. */
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

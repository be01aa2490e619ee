import { isJsonObject, type JsonValue } from '../../../provenance/json.ts'
import { accountRows, scimRows, settingsRows, ssoRows, tenantRows } from '../../db/proven-rows.ts'
import type { VerifiedEvent } from '../verification/verification-types.ts'

export interface DigestInForce {
  eventId: string
  /** Null after a removal. */
  digest: string | null
}

/** Maps {@link digestKey} to the digest in the newest event about the row. */
export type DigestsInForce = ReadonlyMap<string, DigestInForce>

/** Returns the key of a row. A tenant has one row in force of each of these tables, except of service accounts. */
export function digestKey(table: string, subject: string): string {
  return table === accountRows.table ? subject : table
}

/**
 * Applies one event after the other, in their order. An event without a digest, from an earlier version, removes the
 * digest of its row: such a row is not compared. An event whose change started from a row that was not in force sets no
 * digest: a change must not confirm a row that was set back.
 */
export function applyEventDigests(digests: Map<string, DigestInForce>, event: VerifiedEvent): void {
  const { eventId, subject, details } = event
  const now = isJsonObject(details.row_digests) ? details.row_digests : {}
  const former = isJsonObject(details.former_row_digests) ? details.former_row_digests : {}
  for (const table of changedTables(event)) if (!(table in now)) digests.delete(digestKey(table, subject))
  for (const [table, digest] of Object.entries(now)) {
    if (digest !== null && typeof digest !== 'string') continue
    const key = digestKey(table, subject)
    const inForce = digests.get(key)
    if (!inForce || !(table in former) || former[table] === inForce.digest) digests.set(key, { eventId, digest })
  }
}

/** Returns the tables whose row an event changes, whether or not the event names a digest. */
function changedTables({ kind, details }: VerifiedEvent): string[] {
  const { change, protocol, changed } = details
  if (kind === 'connector.added') return details.kind === 'scim_idp' ? [connectionTable(protocol === 'scim')] : []
  if (change === 'tenant') {
    return [
      ...(includes(changed, 'admin_email') ? [settingsRows.table] : []),
      ...(includes(changed, 'base_url') || includes(changed, 'suspended') ? [tenantRows.table] : []),
    ]
  }
  if (String(change).startsWith('service_account_')) return [accountRows.table]
  const [, connection] = /^(scim|sso)(?:_removed|_token_rotated)?$/.exec(String(change)) ?? []
  return connection === undefined ? [] : [connectionTable(connection === 'scim')]
}

const connectionTable = (isScim: boolean) => (isScim ? scimRows : ssoRows).table

const includes = (list: JsonValue | undefined, item: string) => Array.isArray(list) && list.includes(item)

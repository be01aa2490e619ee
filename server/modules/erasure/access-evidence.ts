import { isJsonObject } from '../../../provenance/json.ts'
import { accountRows } from '../../db/proven-rows.ts'
import { parseCanonical } from '../../records/record-response.ts'
import type { AccessEvidence } from './erasure-store.ts'

const markOf = (table: string) => `"${table.replace('.', '[.]')}":("|null)`
const userSuccessor = '"change":"user_(role|deactivated|reactivated)"'
const accountSuccessor = `"scopes":\\[|"change":"service_account_disabled"|${markOf(accountRows.table)}`

/** Returns the evidence that a record provides; an empty list for any other record. */
export function accessEvidenceOf(record: {
  record_id: string
  event_kind: string | null
  canonical: string
}): AccessEvidence[] {
  const { record_id: event_id, event_kind, canonical } = record
  if (event_kind !== 'tenant.config_changed' && event_kind !== 'connector.added') return []
  const { subject, details } = parseCanonical(canonical) ?? {}
  if (typeof subject !== 'string' || !isJsonObject(details)) return []
  const { row_digests: digests, change, after } = details
  if (isJsonObject(digests)) {
    return Object.keys(digests).map((table) => ({ event_id, subject, successor: markOf(table) }))
  }
  const state = isJsonObject(after) ? after : {}
  const isOfUser =
    /^user_(role|deactivated|reactivated)$/.test(String(change)) ||
    (change === 'user_created' && state.role !== 'member')
  if (isOfUser) return [{ event_id, subject, successor: userSuccessor }]
  // An earlier version wrote these events without a digest.
  const isOfAccount = change === 'service_account_disabled' || Array.isArray(state.scopes)
  return isOfAccount ? [{ event_id, subject, successor: accountSuccessor }] : []
}

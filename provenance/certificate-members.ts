import type { DeletionCertificate } from './deletion-certificate.ts'
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts'

const texts = [
  'record_id',
  'record_type',
  'tenant_id',
  'seal_id',
  'leaf_hash',
  'seal_note',
  'checkpoint',
  'purged_at',
  'purged_by',
  'purge_reason',
  'erased_at',
] as const
const numbers = ['leaf_index', 'log_index', 'tree_size'] as const
const paths = ['leaf_path', 'inclusion_path'] as const

/** Returns the certificate with all its members, or a sentence that names the first malformed member. */
export function readDeletionCertificate(json: JsonValue): DeletionCertificate | string {
  if (!isJsonObject(json)) return 'a certificate is a JSON object'
  const wrong =
    texts.find((member) => typeof json[member] !== 'string') ??
    numbers.find((member) => !isCount(json[member])) ??
    paths.find((member) => !isPath(json[member]))
  if (wrong !== undefined) return `/${wrong} is missing, or not what it must be`
  const { events } = json
  if (!isJsonObject(events) || !isJsonObject(events.erased)) return '/events/erased is not a record'
  if (events.purged !== undefined && !isJsonObject(events.purged)) return '/events/purged is not a record'
  return json as JsonObject as unknown as DeletionCertificate
}

function isCount(value: JsonValue | undefined): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

/** A tree has at most as many levels as a number has bits. */
function isPath(value: JsonValue | undefined): boolean {
  return Array.isArray(value) && value.length <= 64 && value.every((hash) => typeof hash === 'string')
}

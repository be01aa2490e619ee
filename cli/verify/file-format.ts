import { isDeletionCertificate, isJsonObject, type JsonValue } from '../../provenance/index.ts'
import { InconclusiveError } from './inconclusive-error.ts'
import type { VerifiedFile } from './verified-file.ts'

/** The format of a file. `json` is one document: a record, an API response with many, or a deletion certificate. */
export type FileFormat = 'jsonl' | 'csv' | 'parquet' | 'json'

/** Returns the format of a file without a manifest, by its content and then by its name. Throws InconclusiveError. */
export async function formatOf(file: VerifiedFile): Promise<FileFormat> {
  const name = file.path.replace(/\.gz$/i, '').toLowerCase()
  const head = Buffer.from(file.head).toString()
  if (head.startsWith('PAR1') || name.endsWith('.parquet')) return 'parquet'
  if (head.startsWith('record_id,') || name.endsWith('.csv')) return 'csv'
  if (/^\s*[{[]/.test(head)) return (await isDocument(file, head)) ? 'json' : 'jsonl'
  if (/\.(jsonl|ndjson|json)$/.test(name)) return 'jsonl'
  throw new InconclusiveError(
    `${file.path} ${head === '' ? 'is empty' : 'is neither JSON, CSV nor Parquet'}.`,
    'Give a file of an export, or a record, a page of records or a deletion certificate as the API answers it.',
  )
}

async function isDocument(file: VerifiedFile, head: string): Promise<boolean> {
  const firstLine = head.includes('\n') ? parsed(head.slice(0, head.indexOf('\n'))) : undefined
  if (firstLine !== undefined && isRow(firstLine)) return false
  const whole = await file.document().catch(() => undefined)
  return whole !== undefined && parsed(Buffer.from(whole).toString()) !== undefined
}

function isRow(value: JsonValue): boolean {
  return isJsonObject(value) && Object.hasOwn(value, 'record_id') && !isDeletionCertificate(value)
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}

import { usdOfMicros } from '../../contract/money.ts'
import { formatTimestamp, parseTimestamp } from '../../contract/timestamp.ts'
import { timeOfRecordId } from './record-clock.ts'
import type { IndexColumns } from './record-columns.ts'

/**
 * The short form of the canonical text of a telemetry event. It has the values that no column of the row has, in the
 * order of {@link members}, behind a mark and separated by tabs. The names of members, and the values of columns, are
 * most of a canonical text, and PostgreSQL compresses texts only from two kilobytes on. See ADR 0107.
 *
 * Values are parts of the canonical text or convert into them without loss, so the text is restored byte for byte. JSON
 * contains no unescaped tab.
 */
const mark = '~1'
/** The first character of a text in short form. No JSON, and no ciphertext, begins with it. */
export const shortTextBeginning = '~'
/** Separates the values. */
export const separator = '\t'
/** Marks a value whose whole JSON follows. */
const fullMark = '='

/** The maximum length of a short form. PostgreSQL compresses longer texts. */
const lengthMax = 2000

/** The columns of a record from which its text is restored. */
export type ShortTextColumns = Pick<
  IndexColumns,
  'skillId' | 'archetypeId' | 'userId' | 'costMicros' | 'traceId' | 'sessionId'
> & { recordId: string; tenantId: string; createdBy: string }

/** Converts a value between its JSON and its short form. The model is the short form of `llm_model`. */
interface ValueForm {
  /** Returns undefined if the value needs {@link fullMark}. */
  shorten(json: string, model: string): string | undefined
  restore(short: string, model: string): string
}

const verbatim: ValueForm = { shorten: (json) => json, restore: (short) => short }

const plainString = /^"[^"=@\\][^"\\]*"$/
const string: ValueForm = {
  shorten: (json) => (plainString.test(json) ? json.slice(1, -1) : undefined),
  restore: (short) => `"${short}"`,
}

const flag: ValueForm = {
  shorten: (json) => (json === 'true' ? '1' : json === 'false' ? '0' : undefined),
  restore: (short) => (short === '1' ? 'true' : short === '0' ? 'false' : short),
}

/** Microseconds since the epoch, in base 36. */
const time: ValueForm = {
  shorten(json) {
    const parsed = parseTimestamp(json.slice(1, -1))
    if (parsed === undefined || json !== `"${parsed.text}"`) return undefined
    const micros = parsed.epochMs * 1000 + parsed.microsOfMs
    return Number.isSafeInteger(micros) ? micros.toString(36) : undefined
  },
  restore(short) {
    const micros = Number.parseInt(short, 36)
    if (!Number.isSafeInteger(micros)) return `"${short}"`
    const epochMs = Math.floor(micros / 1000)
    return `"${formatTimestamp(epochMs, micros - epochMs * 1000)}"`
  },
}

const listPrices = 'genai-prices/'
/** Abbreviates the beginning of a list price's name to `@`, and the model at its end to `*`. */
const priceSource: ValueForm = {
  shorten(json, model) {
    const source = string.shorten(json, model)
    if (source === undefined || source.endsWith('*')) return undefined
    const stem = model !== '' && source.endsWith(`/${model}`) ? `${source.slice(0, -model.length)}*` : source
    return stem.startsWith(listPrices) ? `@${stem.slice(listPrices.length)}` : stem
  },
  restore(short, model) {
    const stem = short.startsWith('@') ? `${listPrices}${short.slice(1)}` : short
    return `"${stem.endsWith('*') ? `${stem.slice(0, -1)}${model}` : stem}"`
  },
}

/** An array; the short form of an empty one is empty. */
const list: ValueForm = { shorten: (json) => (json === '[]' ? '' : json), restore: (short) => short || '[]' }

/** Returns the JSON of a member from the columns; undefined if the record lacks the member. */
type ValueOfColumn = (columns: ShortTextColumns) => string | undefined

const text = (value: string | null) => (value === null ? undefined : JSON.stringify(value))

/**
 * The members of an event in the order of canonical JSON (RFC 8785, section 3.2.3), with the forms of their values. The
 * order and the forms are the format: a change needs another mark.
 */
const forms: readonly (readonly [name: string, form: ValueForm | ValueOfColumn])[] = [
  ['archetype_id', ({ archetypeId }) => text(archetypeId)],
  ['cost_usd_computed', verbatim],
  ['cost_usd_estimate', ({ costMicros }) => (costMicros === null ? undefined : String(usdOfMicros(costMicros)))],
  ['created_at', ({ recordId }) => `"${timeOfRecordId(recordId)}"`],
  ['created_by', ({ createdBy }) => text(createdBy)],
  ['error_code', string],
  ['latency_ms', verbatim],
  ['llm_model', string],
  ['llm_platform', string],
  ['metadata', verbatim],
  ['parent_span_id', string],
  ['price_source', priceSource],
  ['record_id', ({ recordId }) => `"${recordId}"`],
  ['record_type', () => '"telemetry_event"'],
  ['related_records', list],
  ['schema_version', () => '"1.0"'],
  ['session_id', ({ sessionId }) => text(sessionId)],
  ['skill_id', ({ skillId }) => text(skillId)],
  ['skill_version', string],
  ['span_id', string],
  ['success', flag],
  ['tenant_id', ({ tenantId }) => text(tenantId)],
  ['tokens_in', verbatim],
  ['tokens_out', verbatim],
  ['tokens_total_reported', verbatim],
  ['trace_id', ({ traceId }) => text(traceId)],
  ['ts', time],
  ['user_id', ({ userId }) => text(userId)],
]

const members = forms.map(([name, form]) => ({
  name,
  key: `"${name}":`,
  ...(typeof form === 'function' ? { column: form, form: undefined } : { column: undefined, form }),
}))
const shortNames = members.filter(({ form }) => form !== undefined).map(({ name }) => name)

/** Returns the place of a member's value among the values of a short text, from 0; the mark is at 0. */
export function placeInShortText(name: string): number {
  return 1 + shortNames.indexOf(name)
}

/** Returns a string value as short texts contain it. */
export function shortString(value: string): string {
  const json = JSON.stringify(value)
  return string.shorten(json, '') ?? fullMark + json
}

/**
 * Returns the short form of a canonical text; undefined if the text is no event's, or {@link restoreText} would not
 * restore it.
 */
export function shortenText(canonical: string, columns: ShortTextColumns): string | undefined {
  if (hasSeparators(columns)) return undefined
  const values: string[] = [mark]
  let model = ''
  let at = 1
  for (const { name, key, column, form } of members) {
    const isPresent = canonical.startsWith(key, at)
    const start = at + key.length
    let json: string | undefined
    if (column === undefined) {
      if (!isPresent && form === list) return undefined
      json = isPresent ? canonical.slice(start, endOfValue(canonical, start)) : undefined
      const short = json === undefined ? '' : (form.shorten(json, model) ?? fullMark + json)
      if (name === 'llm_model') model = modelOf(short)
      values.push(short)
    } else {
      json = column(columns)
      if (isPresent ? !canonical.startsWith(json ?? separator, start) : json !== undefined) return undefined
    }
    if (json === undefined) continue
    at = start + json.length
    if (canonical.charCodeAt(at++) !== comma && at < canonical.length) return undefined
  }
  const short = values.join(separator)
  return at === canonical.length && short.length <= lengthMax ? short : undefined
}

/**
 * Returns the canonical text for the values of a short text; undefined if they are not what {@link shortenText} returns
 * for any text. Other altered values give another text, whose hash differs.
 */
export function restoreText(values: readonly string[], columns: ShortTextColumns): string | undefined {
  if (values.length !== 1 + shortNames.length || values[0] !== mark) return undefined
  let model = ''
  let place = 1
  let canonical = ''
  for (const { name, key, column, form } of members) {
    let json: string | undefined
    if (column === undefined) {
      const short = values[place++]!
      if (name === 'llm_model') model = modelOf(short)
      if (short.startsWith(fullMark)) json = short.slice(fullMark.length)
      else if (short !== '' || form === list) json = form.restore(short, model)
      // Each value has one short form. Filters compare it, so another one would hide the event from them.
      if (json !== undefined && (form.shorten(json, model) ?? fullMark + json) !== short) return undefined
    } else {
      json = column(columns)
    }
    if (json !== undefined) canonical += `${canonical === '' ? '{' : ','}${key}${json}`
  }
  return `${canonical}}`
}

const modelOf = (short: string) => (short.startsWith(fullMark) ? '' : short)

const separators = /[\t\n]/

/** Returns whether a column has a character that separates values, or texts, in results of queries. */
function hasSeparators({ createdBy, userId, sessionId }: ShortTextColumns): boolean {
  return separators.test(createdBy) || separators.test(userId ?? '') || separators.test(sessionId ?? '')
}

const [comma, quote, backslash] = [0x2c, 0x22, 0x5c]
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d]

/** Returns the index behind the JSON value that begins there, and is not the last of its object. */
function endOfValue(json: string, start: number): number {
  const first = json.charCodeAt(start)
  if (first === quote) return endOfString(json, start) + 1
  if (first === openArray || first === openObject) return endOfStructure(json, start)
  const end = json.indexOf(',', start)
  return end < 0 ? json.length : end
}

function endOfStructure(json: string, start: number): number {
  let depth = 0
  for (let at = start; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (code === quote) at = endOfString(json, at)
    else if (code === openArray || code === openObject) depth++
    else if ((code === closeArray || code === closeObject) && --depth === 0) return at + 1
  }
  return json.length
}

/** Returns the index of the closing quote of the string that begins there. */
function endOfString(json: string, start: number): number {
  let at = json.indexOf('"', start + 1)
  while (at >= 0 && isEscaped(json, at)) at = json.indexOf('"', at + 1)
  return at < 0 ? json.length : at
}

/** Returns whether an odd number of backslashes is before the index. */
function isEscaped(json: string, at: number): boolean {
  let before = at
  while (json.charCodeAt(before - 1) === backslash) before--
  return (at - before) % 2 === 1
}

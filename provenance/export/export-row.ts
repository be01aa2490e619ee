import { utf8 } from '../bytes.ts'
import { cosignBytes, decodeCosignInto } from '../cosign-bytes.ts'

/** The domain constant of a record's hash, see {@link recordHashInput}. */
const domain = utf8('orghub/record/v1\0')
/**
 * The text between the canonical text and the cosignature, in both forms. The digits of the hash are filled with zeros.
 */
const middles = [false, true].map((isPurged) =>
  utf8(`,"is_purged":${isPurged},"provenance_hash":"sha256:${'0'.repeat(64)}","provenance_cosign":"`),
)
const hashFromEnd = 64 + '","provenance_cosign":"'.length
const cosignTextMax = 426
/** The member that an export with `verify` adds to a record in which the Hub found no defect. */
const verifiedMember = utf8(
  ',"verification":{"verified":true,"checks":{"provenance_hash_matches":true,"provenance_cosign_valid":true,' +
    '"schema_version_supported":true,"no_active_legal_hold_violation":true}}',
)
const quote = 0x22
const backslash = 0x5c
const closingBrace = 0x7d

/**
 * Splits rows that have the exact form of exports: the canonical text without its last brace, then exactly the members
 * that are not part of it. If the hash of that text is the sealed one, the text needs no parsing: the row is one JSON
 * object, and every member not checked here is sealed.
 *
 * One reader serves all rows in turn; its properties refer to the last row.
 */
export class RowReader {
  #input = new Uint8Array(4096)
  #inputLength = 0
  /** The stored hash. */
  readonly hash = new Uint8Array(32)
  readonly #cosign = new Uint8Array(cosignBytes.lengthMax)
  #cosignLength = 0
  isPurged = false

  constructor() {
    this.#input.set(domain)
  }

  /** The input of the record's hash. */
  get hashInput(): Uint8Array {
    return this.#input.subarray(0, this.#inputLength)
  }

  /** The canonical text. */
  get canonical(): Uint8Array {
    return this.#input.subarray(domain.length, this.#inputLength)
  }

  /** The binary form of the cosignature. */
  get cosign(): Uint8Array {
    return this.#cosign.subarray(0, this.#cosignLength)
  }

  /** Reads a row. Returns false for a damaged row or any other form; the caller must then parse it. */
  read(row: Uint8Array): boolean {
    let end = row.length - 1
    if (row[end] !== closingBrace) return false
    if (row[end - 1] === closingBrace) {
      end -= verifiedMember.length
      if (!isAt(row, end, verifiedMember)) return false
    }
    if (row[end - 1] !== quote) return false
    const cosignAt = startOfText(row, end - 2)
    if (cosignAt < 0) return false
    const middle = middleBefore(row, cosignAt)
    if (middle < 0) return false
    this.isPurged = middle === 1
    if (!readHex(row, cosignAt - hashFromEnd, this.hash)) return false
    this.#cosignLength = decodeCosignInto(row, cosignAt, end - 1, this.#cosign)
    if (this.#cosignLength < 0) return false
    this.#setCanonical(row, cosignAt - middles[middle]!.length)
    return true
  }

  #setCanonical(row: Uint8Array, length: number): void {
    const inputLength = domain.length + length + 1
    if (inputLength > this.#input.length) {
      this.#input = new Uint8Array(inputLength * 2)
      this.#input.set(domain)
    }
    this.#input.set(row.subarray(0, length), domain.length)
    this.#input[inputLength - 1] = closingBrace
    this.#inputLength = inputLength
  }
}

/**
 * Returns the start of the text whose last character is at `last`; -1 if it is further away than the length of a
 * cosignature.
 */
function startOfText(row: Uint8Array, last: number): number {
  const at = row.lastIndexOf(quote, last)
  return at < 0 || last - at > cosignTextMax ? -1 : at + 1
}

function middleBefore(row: Uint8Array, end: number): number {
  return middles.findIndex((middle) => {
    const from = end - middle.length
    if (from < 1) return false
    const digitsFrom = middle.length - hashFromEnd
    for (let i = 0; i < digitsFrom; i++) if (row[from + i] !== middle[i]) return false
    for (let i = digitsFrom + 64; i < middle.length; i++) if (row[from + i] !== middle[i]) return false
    return true
  })
}

function isAt(row: Uint8Array, at: number, pattern: Uint8Array): boolean {
  if (at < 0) return false
  for (let i = 0; i < pattern.length; i++) if (row[at + i] !== pattern[i]) return false
  return true
}

function readHex(row: Uint8Array, at: number, target: Uint8Array): boolean {
  for (let i = 0; i < target.length; i++) {
    const high = hexValue(row[at + 2 * i]!)
    const low = hexValue(row[at + 2 * i + 1]!)
    if (high < 0 || low < 0) return false
    target[i] = high * 16 + low
  }
  return true
}

/** Returns the value of a lowercase hexadecimal digit. */
function hexValue(char: number): number {
  if (char >= 0x30 && char <= 0x39) return char - 0x30
  return char >= 0x61 && char <= 0x66 ? char - 0x57 : -1
}

/** Offsets of the values of two members in a canonical text; 0 for an absent member. */
export type RecordMembers = { recordIdAt: number; schemaVersionAt: number }

const recordIdName = utf8('record_id')
const schemaVersionName = utf8('schema_version')

/**
 * Finds members of the record itself, not of nested objects, in a text whose hash is the stored one. For a text that is
 * not canonical JSON the result is meaningless, and the row's signature fails.
 */
export function findMembers(canonical: Uint8Array, found: RecordMembers): void {
  found.recordIdAt = 0
  found.schemaVersionAt = 0
  const { length } = canonical
  let depth = 0
  for (let at = 0; at < length; at++) {
    const byte = canonical[at]!
    if (byte === quote) {
      const start = at + 1
      for (at = start; at < length && canonical[at] !== quote; at++) if (canonical[at] === backslash) at++
      if (depth !== 1 || canonical[at + 1] !== 0x3a) continue
      // A canonical text has no space around the colon, and only names precede a colon.
      if (at - start === 9 && isAt(canonical, start, recordIdName)) found.recordIdAt = at + 2
      else if (at - start === 14 && isAt(canonical, start, schemaVersionName)) found.schemaVersionAt = at + 2
    } else if (byte === 0x7b || byte === 0x5b) depth++
    else if (byte === 0x7d || byte === 0x5d) depth--
  }
}

const supportedVersion = utf8('"1.0"')

/** Returns true if the value at `at` is a `schema_version` that this verifier supports. */
export function isSupportedVersion(canonical: Uint8Array, at: number): boolean {
  return at > 0 && isAt(canonical, at, supportedVersion)
}

/** Returns a copy of the text at `at` if it has the length of a record id, else null. */
export function recordIdAt(canonical: Uint8Array, at: number): Uint8Array | null {
  if (at === 0 || canonical[at] !== quote || canonical[at + 37] !== quote) return null
  return canonical.slice(at + 1, at + 37)
}

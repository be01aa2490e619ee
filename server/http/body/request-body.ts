import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { DomainError, validationFailed } from '../../../contract/domain-error.ts'
import { type BodyBounds, bodyBytesPerRequest } from '../../../contract/limits.ts'
import type { FormBody } from '../route-schema.ts'
import type { HeldBody } from './body-memory-limit.ts'
import { parseStrictJsonInTurns } from './strict-json.ts'

/** Bytes beyond the limit that are read and discarded, so that a client that is still sending receives its 413. */
const discardedBytesMax = 64 * 1024 * 1024
/** Milliseconds without data after which a connection with an incomplete body is closed. */
const stalledMs = 30_000
const inflatedChunkBytes = 64 * 1024
const formFieldsMax = 100

interface BodyRules {
  /**
   * The format of the body. `bytes` passes it on unparsed, for a handler that verifies the received bytes; `raw` passes
   * it on unparsed, but inflated.
   */
  format: 'json' | 'form' | 'bytes' | 'raw'
  /** A media type that is accepted beside the usual one of the format. */
  mediaType?: string | undefined
  bounds: BodyBounds
  /** Counts all bytes before they are stored, including inflated ones; it may refuse them. */
  held: HeldBody
  /**
   * Counts one more request. Called for each started unit of the inflated body except the first, also for a refused
   * body; it may refuse the body.
   */
  charge?: (() => Promise<void>) | null
  stalledMs?: number
}

/**
 * Reads a body: media type and coding 415, size 413, then its content 400. Returns undefined without a body.
 *
 * @throws DomainError
 */
export async function readBody(
  headers: IncomingHttpHeaders,
  stream: IncomingMessage,
  rules: BodyRules,
): Promise<unknown> {
  const announcedBytes = Number(headers['content-length'] ?? 0)
  if (announcedBytes === 0 && headers['transfer-encoding'] === undefined) return undefined
  checkMediaType(headers['content-type'], rules)
  const isGzip = isGzipCoding(headers['content-encoding'])
  if (isGzip && rules.format === 'bytes') throw asItIs()
  if (announcedBytes > rules.bounds.bytes) {
    discard(stream)
    throw tooLarge(rules.bounds)
  }
  const read: ReadBytes = { count: 0 }
  try {
    const bytes = await readBytes(stream, rules, read, isGzip).finally(() => chargeFor(read, rules))
    if (bytes.length === 0) return undefined
    if (rules.format === 'bytes' || rules.format === 'raw') return bytes
    return rules.format === 'json' ? await parseStrictJsonInTurns(bytes, rules.bounds) : parseForm(bytes)
  } catch (error) {
    // The body is discarded, even if its rest is still arriving.
    rules.held.release()
    throw error
  }
}

/** Counts the bytes of a body, inflated or not, up to its refusal. */
interface ReadBytes {
  count: number
}

async function readBytes(stream: IncomingMessage, rules: BodyRules, read: ReadBytes, isGzip: boolean): Promise<Buffer> {
  const received = await receive(stream, rules, read)
  return isGzip && received.length > 0 ? inflate(received, rules, read) : received
}

/** Charges for a refused body as well: inflating a body that ends in an error costs as much. */
async function chargeFor({ count }: ReadBytes, { charge }: BodyRules): Promise<void> {
  for (let from = bodyBytesPerRequest; from < count; from += bodyBytesPerRequest) await charge?.()
}

const mediaTypes = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  bytes: 'application/json',
  raw: 'application/json',
} as const

function checkMediaType(header: string | undefined, { format, mediaType }: BodyRules): void {
  if (header === mediaTypes[format]) return
  const [type = '', ...parameters] = (header ?? '').split(';').map((part) => part.trim().toLowerCase())
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))
  const isTaken = type === mediaTypes[format] || (mediaType !== undefined && type === mediaType)
  if (isTaken && (charset === undefined || /^charset="?utf-?8"?$/.test(charset))) return
  throw new DomainError(
    'unsupported-media-type',
    format === 'raw'
      ? `The body must be sent as Content-Type: ${mediaType} or ${mediaTypes.raw}.`
      : `The body must be sent as Content-Type: ${mediaType ?? mediaTypes[format]}, in UTF-8.`,
  )
}

function isGzipCoding(header: string | undefined): boolean {
  const coding = header?.trim().toLowerCase() ?? 'identity'
  if (coding === 'gzip' || coding === 'x-gzip') return true
  if (coding === 'identity' || coding === '') return false
  throw new DomainError(
    'unsupported-media-type',
    'The body must be sent without Content-Encoding, or with Content-Encoding: gzip.',
  )
}

function asItIs(): DomainError {
  const detail = 'The body must be sent without Content-Encoding, because its signature covers the bytes of the body.'
  return new DomainError('unsupported-media-type', detail)
}

function tooLarge({ bytes }: BodyBounds): DomainError {
  return new DomainError('payload-too-large', `The body exceeds the ${bytes} bytes that this operation accepts.`)
}

async function receive(stream: IncomingMessage, rules: BodyRules, read: ReadBytes): Promise<Buffer> {
  // Most bodies arrive with their headers. (Injected requests have no connection to wait for.)
  const isWaitedFor = stream.complete === false
  const inactiveMs = isWaitedFor ? (stream.socket.timeout ?? 0) : 0
  if (isWaitedFor) stream.setTimeout(rules.stalledMs ?? stalledMs)
  try {
    const received = await collect(stream, rules, read, 'The body ended before its announced length.')
    if (isWaitedFor) stream.setTimeout(inactiveMs)
    return received
  } catch (error) {
    discard(stream)
    throw error
  }
}

/** Collects a stream; throws as soon as it exceeds its bounds. */
function collect(stream: Readable, { bounds, held }: BodyRules, read: ReadBytes, incomplete: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    const settle = () => {
      stream.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose)
    }
    const fail = (error: unknown) => {
      settle()
      reject(error)
    }
    const onData = (chunk: Buffer) => {
      length += chunk.length
      read.count = Math.max(read.count, length)
      if (length > bounds.bytes) return fail(tooLarge(bounds))
      try {
        held.hold(chunk.length)
      } catch (error) {
        return fail(error)
      }
      chunks.push(chunk)
    }
    const onEnd = () => {
      settle()
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, length))
    }
    const onError = (error: Error) => fail(new DomainError('malformed-json', incomplete, { cause: error }))
    const onClose = () => onError(new Error('The connection was closed.'))
    stream.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose)
  })
}

function discard(stream: Readable): void {
  let discarded = 0
  stream.on('error', () => {})
  stream.on('data', (chunk: Buffer) => {
    discarded += chunk.length
    if (discarded > discardedBytesMax) stream.destroy()
  })
}

/** Inflates on the thread pool, and stops as soon as the limit is exceeded. */
async function inflate(bytes: Buffer, rules: BodyRules, read: ReadBytes): Promise<Buffer> {
  const gunzip = createGunzip({ chunkSize: inflatedChunkBytes })
  gunzip.end(bytes)
  try {
    return await collect(gunzip, rules, read, 'The body is not a complete gzip stream.')
  } finally {
    gunzip.on('error', () => {}).destroy()
  }
}

function parseForm(bytes: Buffer): FormBody {
  const form: FormBody = Object.create(null)
  const text = bytes.toString('utf8')
  // Counts the fields first, because Node's time grows with the square of their number.
  if (text.split('&', formFieldsMax + 1).length > formFieldsMax) {
    throw validationFailed([{ pointer: '', detail: `must have at most ${formFieldsMax} fields` }])
  }
  for (const [name, value] of new URLSearchParams(text)) {
    if (name.includes('\0') || value.includes('\0')) {
      throw validationFailed([{ pointer: '', detail: 'must not contain the character NUL' }])
    }
    const earlier = form[name]
    if (earlier === undefined) form[name] = value
    else if (Array.isArray(earlier)) earlier.push(value)
    else form[name] = [earlier, value]
  }
  return form
}

import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { gunzip } from 'node:zlib'
import { DomainError, validationFailed } from '../../contract/domain-error.ts'
import type { FormBody } from './route-schema.ts'
import { parseStrictJson } from './strict-json.ts'

/** Beyond the limit this much is read and thrown away, so that a client in the middle of sending gets its 413. */
const discardedBytesMax = 64 * 1024 * 1024

interface BodyRules {
  format: 'json' | 'form'
  /** Of the inflated body. */
  limitBytes: number
  /** Told before so many bytes are held in memory, and may throw. */
  hold(bytes: number): void
}

/**
 * Reads a body: media type and coding 415, size 413, then its content 400. Undefined when there is none.
 *
 * @throws DomainError
 */
export async function readBody(headers: IncomingHttpHeaders, stream: Readable, rules: BodyRules): Promise<unknown> {
  const announcedBytes = Number(headers['content-length'] ?? 0)
  if (announcedBytes === 0 && headers['transfer-encoding'] === undefined) return undefined
  checkMediaType(headers['content-type'], rules.format)
  const isGzip = isGzipCoding(headers['content-encoding'])
  if (announcedBytes > rules.limitBytes) {
    discard(stream)
    throw tooLarge(rules.limitBytes)
  }
  try {
    // A body that does not say how long it is may become as long as is allowed.
    rules.hold(announcedBytes || rules.limitBytes)
  } catch (error) {
    discard(stream)
    throw error
  }
  const received = await collect(stream, rules.limitBytes)
  const bytes = isGzip && received.length > 0 ? await inflate(received, rules.limitBytes) : received
  if (isGzip) rules.hold(bytes.length)
  if (bytes.length === 0) return undefined
  return rules.format === 'json' ? parseStrictJson(bytes) : parseForm(bytes)
}

const mediaTypes = { json: 'application/json', form: 'application/x-www-form-urlencoded' } as const

function checkMediaType(header: string | undefined, format: BodyRules['format']): void {
  if (header === mediaTypes[format]) return
  const [type = '', ...parameters] = (header ?? '').split(';').map((part) => part.trim().toLowerCase())
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))
  if (type === mediaTypes[format] && (charset === undefined || /^charset="?utf-?8"?$/.test(charset))) return
  throw new DomainError(
    'unsupported-media-type',
    `The body must be sent as Content-Type: ${mediaTypes[format]}, in UTF-8.`,
  )
}

function isGzipCoding(header: string | undefined): boolean {
  const coding = header?.trim().toLowerCase() ?? 'identity'
  if (coding === 'gzip' || coding === 'x-gzip') return true
  if (coding === 'identity' || coding === '') return false
  throw new DomainError('unsupported-media-type', 'The body must be sent as it is, or with Content-Encoding: gzip.')
}

function tooLarge(limitBytes: number): DomainError {
  return new DomainError(
    'payload-too-large',
    `The body is larger than the ${limitBytes} bytes that this operation takes.`,
  )
}

function collect(stream: Readable, limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    const settle = () => {
      stream.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose)
    }
    const onData = (chunk: Buffer) => {
      length += chunk.length
      chunks.push(chunk)
      if (length <= limitBytes) return
      settle()
      discard(stream)
      reject(tooLarge(limitBytes))
    }
    const onEnd = () => {
      settle()
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, length))
    }
    const onError = (error: Error) => {
      settle()
      reject(new DomainError('malformed-json', 'The body ended before its announced length.', { cause: error }))
    }
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

/** Inflates on the thread pool, and stops as soon as the limit is passed. */
function inflate(bytes: Buffer, limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    gunzip(bytes, { maxOutputLength: limitBytes }, (error: NodeJS.ErrnoException | null, inflated) => {
      if (error === null) resolve(inflated)
      else if (error.code === 'ERR_BUFFER_TOO_LARGE') reject(tooLarge(limitBytes))
      else reject(new DomainError('malformed-json', 'The body is not a complete gzip stream.', { cause: error }))
    })
  })
}

function parseForm(bytes: Buffer): FormBody {
  const form: FormBody = Object.create(null)
  for (const [name, value] of new URLSearchParams(bytes.toString('utf8'))) {
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

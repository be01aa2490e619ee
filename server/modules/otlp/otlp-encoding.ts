import protobuf from 'protobufjs/minimal.js'
import type { DomainError } from '../../../contract/domain-error.ts'
import type { ExportResult } from './otlp-types.ts'

/** The two encodings of OTLP/HTTP by their media types. */
export const mediaTypes = { protobuf: 'application/x-protobuf', json: 'application/json' } as const
export type Encoding = keyof typeof mediaTypes

/** Returns the encoding of a Content-Type header; JSON for any other type. */
export function encodingOf(contentType: string | undefined): Encoding {
  const [type = ''] = (contentType ?? '').split(';')
  return type.trim().toLowerCase() === mediaTypes.protobuf ? 'protobuf' : 'json'
}

/** The name of the count in the JSON of a partial success, by the last segment of the path. */
export const rejectedNames = {
  traces: 'rejectedSpans',
  logs: 'rejectedLogRecords',
  metrics: 'rejectedDataPoints',
} as const

/** Encodes an export response. Without rejected items and a message it is empty, as the protocol requires. */
export function encodeResponse(
  encoding: Encoding,
  kind: keyof typeof rejectedNames,
  { rejected, message }: ExportResult,
): string | Uint8Array {
  const isWhole = rejected === 0 && message === ''
  if (encoding === 'json') {
    const partial = { ...(rejected > 0 && { [rejectedNames[kind]]: String(rejected) }), errorMessage: message }
    return JSON.stringify(isWhole ? {} : { partialSuccess: partial })
  }
  const writer = protobuf.Writer.create()
  if (isWhole) return writer.finish()
  writer.uint32(10).fork()
  if (rejected > 0) writer.uint32(8).int64(rejected)
  if (message !== '') writer.uint32(18).string(message)
  return writer.ldelim().finish()
}

/** Codes of google.rpc.Status by HTTP status. */
const statusCodes: Readonly<Record<number, number>> = {
  400: 3,
  401: 16,
  403: 7,
  404: 5,
  405: 12,
  409: 10,
  413: 3,
  415: 3,
  422: 9,
  429: 8,
  431: 3,
  503: 14,
}
const internalCode = 13

/** Encodes an error as google.rpc.Status. */
export function encodeStatus(encoding: Encoding, error: DomainError): string | Uint8Array {
  const code = statusCodes[error.status] ?? internalCode
  const places = (error.errors ?? []).slice(0, 10).map(({ pointer, detail }) => `${pointer} ${detail}`.trim())
  const message = [error.message, ...places.filter((place) => !error.message.includes(place))].join(' ')
  if (encoding === 'json') return JSON.stringify({ code, message })
  return protobuf.Writer.create().uint32(8).int32(code).uint32(18).string(message).finish()
}

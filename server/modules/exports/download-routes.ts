import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../../contract/domain-error.ts'
import { addRoute } from '../../http/route.ts'
import type { Downloads } from './download-service.ts'
import { DownloadHeaders, DownloadParams, DownloadQuery, downloadAnswers } from './exports-schemas.ts'
import type { ByteRange, Download } from './exports-types.ts'

export function addDownloadRoutes(app: FastifyInstance, downloads: Downloads): void {
  addRoute(
    app,
    'downloadExport',
    {
      description:
        'The address is its own credential: `download_url` or `manifest_url` of the export, unchanged. It takes neither ' +
        'a token nor a tenant header, and ends 24 hours after the export was completed. A part can be asked for with ' +
        '`Range`, so that a download that broke off can be resumed. Each GET of the whole file is an event ' +
        '`hub.export_downloaded`; those of parts are one, for a file and an address, in a minute. HEAD is none. In Mode B ' +
        'files are encrypted at rest and come in clear; after `cmek:destroy` the answer is 403 with the reason.',
      params: DownloadParams,
      querystring: DownloadQuery,
      headers: DownloadHeaders,
      ...downloadAnswers,
      problems: ['invalid-download-url', 'range-not-satisfiable', 'hub-unavailable'],
    },
    async (request, reply) => {
      const { job_id: jobId, file_name: fileName } = request.params
      const { tenant, expires, signature } = request.query
      const download = await downloads.open({ jobId, fileName, tenant, expires, signature }, request.hostTenant)
      request.hubTenant = download.tenant
      await request.credentialCharges.succeed(`export ${jobId}`, download.tenant.slug)
      const range = rangeOf(request, reply, download)
      reply.headers({
        'content-type': download.contentType,
        'content-disposition': `attachment; filename="${fileName}"`,
        'accept-ranges': 'bytes',
        'cache-control': 'private, no-store',
        etag: download.etag,
        'content-length': range ? range.end - range.start + 1 : download.sizeBytes,
      })
      if (range) reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${download.sizeBytes}`)
      // A response to HEAD states the length of the body; an empty stream keeps that header.
      if (request.method === 'HEAD') return reply.send(Readable.from([]))
      await downloads.note(download, range, { address: request.callerAddress, requestId: request.id })
      return reply.send(await download.read(range))
    },
  )
}

/** Returns the requested part, if the file is still the one that the caller has a part of. */
function rangeOf(request: FastifyRequest, reply: FastifyReply, { etag, sizeBytes }: Download) {
  const { range: header, 'if-range': ifRange } = request.headers
  // Range is valid only for GET (RFC 9110, section 14.2). A weak tag or a time is not precise enough (section 13.1.5).
  if (request.method !== 'GET' || (ifRange !== undefined && ifRange !== etag)) return undefined
  const range = readRange(header, sizeBytes)
  if (range !== 'unsatisfiable') return range
  reply.header('content-range', `bytes */${sizeBytes}`)
  throw new DomainError(
    'range-not-satisfiable',
    `The range starts after the end of the file, which has ${sizeBytes} bytes.`,
  )
}

/**
 * Reads a `Range` header for a file (RFC 9110, section 14.1.2): a part, `unsatisfiable`, or undefined for the whole
 * file. Several ranges, other units and unreadable text are ignored, as the section allows.
 */
function readRange(header: string | undefined, sizeBytes: number): ByteRange | 'unsatisfiable' | undefined {
  const parts = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i.exec(header ?? '')
  if (parts === null) return undefined
  const [, first = '', last = ''] = parts
  if (first === '') {
    if (last === '') return undefined
    const length = Math.min(Number(last), sizeBytes)
    return length === 0 ? 'unsatisfiable' : { start: sizeBytes - length, end: sizeBytes - 1 }
  }
  const start = Number(first)
  if (last !== '' && Number(last) < start) return undefined
  if (start >= sizeBytes) return 'unsatisfiable'
  return { start, end: last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1) }
}

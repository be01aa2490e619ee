import type { FastifyInstance } from 'fastify'
import { exportsOpenMax } from '../../../contract/limits.ts'
import { PageQuery } from '../../../contract/request-schemas.ts'
import { addRoute, emptyBody } from '../../http/route.ts'
import {
  CreatedExportSchema,
  EvidencePackBody,
  ExportBody,
  ExportList,
  ExportParams,
  ExportSchema,
  exportLocation,
} from './exports-schemas.ts'
import type { Exports } from './exports-service.ts'

export function addExportsRoutes(app: FastifyInstance, exports: Exports): void {
  addRoute(
    app,
    'createExport',
    {
      description:
        'Writes the records that the filter finds, but for purged ones, into a file in the background; poll the ' +
        'address in `Location`. Needs the read scope of every type that it covers, and without `record_type` it ' +
        'covers all of them: a token that may not read all types names those that it may. ' +
        `At most ${exportsOpenMax} exports of a tenant wait or run at a time. Exports within 24 hours, and the size of the ` +
        'files that are kept, are limited for each tenant: beyond, the answer is 429. While a disk of the Hub is full, it ' +
        'is 503, and `full` names the disk.',
      body: ExportBody,
      bodyOptional: true,
      response: { 202: CreatedExportSchema },
      responseHeaders: { 202: exportLocation },
      problems: ['hub-unavailable'],
    },
    async (request, reply) => {
      const { job_id, estimated_completion_ts } = await exports.create(request.caller, request.body)
      reply.code(202).header('location', `/api/v1/hub/exports/${job_id}`)
      return { job_id, status: 'queued' as const, estimated_completion_ts }
    },
  )

  addRoute(
    app,
    'createEvidencePack',
    {
      description:
        'Writes an archive (`.tar.gz`) for auditors and authorities in the background: the records of the period with ' +
        'their provenance, checkpoints of the log from before and after it, keys, holds, retention rules, deletion ' +
        'certificates, sign-ins and changes of settings, people by opaque id, usage, the result of a full verification ' +
        'at that time, a report to read, and a signed manifest. `hub verify` checks it offline. The pack is polled, ' +
        'downloaded, cancelled and limited as exports are: poll the address in `Location`.',
      body: EvidencePackBody,
      response: { 202: CreatedExportSchema },
      responseHeaders: { 202: exportLocation },
      problems: ['hub-unavailable'],
    },
    async (request, reply) => {
      const { job_id, estimated_completion_ts } = await exports.createPack(request.caller, request.body)
      reply.code(202).header('location', `/api/v1/hub/exports/${job_id}`)
      return { job_id, status: 'queued' as const, estimated_completion_ts }
    },
  )

  addRoute(
    app,
    'listExports',
    {
      description: 'Newest first. Exports of types that the token may not read are omitted.',
      querystring: PageQuery,
      response: { 200: ExportList },
      problems: ['invalid-cursor'],
    },
    async (request) => exports.list(request.caller, request.query),
  )

  addRoute(
    app,
    'getExport',
    {
      description: 'An export of types that the token may not read is 404.',
      params: ExportParams,
      response: { 200: ExportSchema },
    },
    async (request) => exports.get(request.caller, request.params.job_id),
  )

  addRoute(
    app,
    'cancelExport',
    {
      description: 'Deletes the written files. Repeating the request returns the same response.',
      params: ExportParams,
      body: emptyBody,
      bodyOptional: true,
      response: { 200: ExportSchema },
      problems: ['concurrent-modification'],
    },
    async (request) => exports.cancel(request.caller, request.params.job_id),
  )
}

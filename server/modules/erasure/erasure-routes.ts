import type { FastifyInstance } from 'fastify'
import { addRoute, rawJson } from '../../http/route.ts'
import { recordIdParams } from '../../records/record-schemas.ts'
import { DeletionCertificateSchema } from './erasure-schemas.ts'
import type { DeletionCertificates } from './erasure-types.ts'

export function addErasureRoutes(app: FastifyInstance, certificates: DeletionCertificates): void {
  addRoute(
    app,
    'getDeletionCertificate',
    {
      description: 'Proves, with public keys alone, that a record existed and was erased.',
      params: recordIdParams,
      response: { 200: DeletionCertificateSchema },
      problems: ['concurrent-modification'],
    },
    async (request, reply) =>
      rawJson(reply, await certificates.get(request.caller, request.params.record_id.toLowerCase())),
  )
}

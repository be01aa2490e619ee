import type { FastifyInstance } from 'fastify'
import { addRoute } from '../../../http/route.ts'
import { OtlpMappingBody, OtlpMappingSchema } from './mapping-schemas.ts'
import type { OtlpMappings } from './mapping-service.ts'

export function addMappingRoutes(app: FastifyInstance, mappings: OtlpMappings): void {
  addRoute(
    app,
    'getOtlpMapping',
    {
      description: 'How spans and log records of OpenTelemetry become events, in addition to the fixed mapping.',
      response: { 200: OtlpMappingSchema },
    },
    async (request) => mappings.get(request.caller.tenant),
  )

  addRoute(
    app,
    'replaceOtlpMapping',
    {
      description: 'Replaces the whole mapping; absent members get their defaults. It applies to spans from now on.',
      body: OtlpMappingBody,
      response: { 200: OtlpMappingSchema },
    },
    async (request) => mappings.replace(request.caller, request.body),
  )
}

import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { addRoute, emptyBody, rawJson } from '../../http/route.ts'
import {
  ManifestHeaders,
  ManifestQuery,
  ManifestSchema,
  manifestHeader,
  RepublishParams,
  RepublishSchema,
  republishLocation,
} from './distribution-schemas.ts'
import type { ManifestReader } from './manifest-service.ts'
import type { Republishing } from './republish-service.ts'

export function addDistributionRoutes(
  app: FastifyInstance,
  manifests: ManifestReader,
  republishing: Republishing,
): void {
  addRoute(
    app,
    'getManifest',
    {
      description:
        'For a connector with the delivery `pull`, each request of a service account counts as a publish, ' +
        'including a 304: request it at least every 30 seconds, with `If-None-Match`. Requests of people do not ' +
        'count.',
      querystring: ManifestQuery,
      headers: ManifestHeaders,
      response: { 200: ManifestSchema, 304: Type.Null({ description: 'The skills are unchanged' }) },
      responseHeaders: { 200: manifestHeader, 304: manifestHeader },
      problems: ['not-found'],
    },
    async (request, reply) => {
      const { connector_id: connectorId } = request.query
      const found = await manifests.fetch(request.caller, connectorId, request.headers['if-none-match'])
      reply.header('etag', found.etag)
      return 'text' in found ? rawJson(reply, found.text) : reply.code(304).send()
    },
  )

  addRoute(
    app,
    'republishSkills',
    {
      description:
        'Publishes to every connector with the delivery `push`, even without changes. Poll the address in ' +
        '`Location`. A request during a run returns that run.',
      body: emptyBody,
      bodyOptional: true,
      response: { 202: RepublishSchema },
      responseHeaders: { 202: republishLocation },
    },
    async (request, reply) => {
      const job = await republishing.order(request.caller)
      const address = `/api/v1/skill-entitlement/distribution/republishes/${job.job_id}`
      reply.code(202).header('location', address)
      return job
    },
  )

  addRoute(
    app,
    'getLatestRepublish',
    {
      description: 'Returns the latest republication, running or ended.',
      response: { 200: RepublishSchema },
      problems: ['not-found'],
    },
    async (request) => republishing.latest(request.caller.tenant),
  )

  addRoute(
    app,
    'getRepublish',
    {
      description: 'Returns its progress and the result of each connector.',
      params: RepublishParams,
      response: { 200: RepublishSchema },
    },
    async (request) => republishing.get(request.caller.tenant, request.params.job_id),
  )
}

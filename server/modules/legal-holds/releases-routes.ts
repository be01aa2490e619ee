import type { FastifyInstance } from 'fastify'
import { pageSizeDefault } from '../../../contract/limits.ts'
import { PageQuery } from '../../../contract/request-schemas.ts'
import { addRoute } from '../../http/route.ts'
import { recordIdParams } from '../../records/record-schemas.ts'
import type { EventReleases } from './event-releases.ts'
import { ReleaseBody, ReleaseList, ReleaseSchema } from './releases-schemas.ts'

export function addReleaseRoutes(app: FastifyInstance, releases: EventReleases): void {
  addRoute(
    app,
    'releaseRecord',
    {
      description:
        'A governance event can be purged only while a release of it is active. A release may end at a time.',
      params: recordIdParams,
      body: ReleaseBody,
      // A missing body then fails with the missing reason.
      bodyOptional: true,
      response: { 201: ReleaseSchema },
    },
    async (request, reply) => {
      reply.code(201)
      return releases.create(request.caller, request.params.record_id.toLowerCase(), request.body)
    },
  )

  addRoute(
    app,
    'listReleases',
    {
      description: 'The oldest first, those that have ended too.',
      params: recordIdParams,
      querystring: PageQuery,
      response: { 200: ReleaseList },
    },
    async (request) => {
      const { limit = pageSizeDefault, cursor } = request.query
      return releases.list(request.caller, request.params.record_id.toLowerCase(), { limit, cursor })
    },
  )
}
